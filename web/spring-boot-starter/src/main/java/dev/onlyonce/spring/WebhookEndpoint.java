package dev.onlyonce.spring;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.http.Webhook;
import dev.onlyonce.http.WebhookReceiver;

/**
 * Where the webhooks of a source come in, and what they do. Define one as a bean for each source: the starter receives POST
 * requests at its path, checks them, and applies each webhook once, in one transaction with the entry that remembers it.
 *
 * @param path a fixed path within the application, such as {@code /webhooks/stripe}
 * @param receiver checks the requests
 * @param effect what a webhook does
 */
public record WebhookEndpoint(String path, WebhookReceiver.Builder receiver, Effect effect) {

    /** What a webhook does. Thread-safe. */
    @FunctionalInterface
    public interface Effect {
        /**
         * Applies a webhook in the transaction that remembers it, which {@code @Transactional} beans, {@code JdbcTemplate} and JPA
         * join. Whatever it throws rolls the transaction back, and the next delivery applies the webhook.
         *
         * @throws dev.onlyonce.http.WebhookRejected if it can never be applied: the sender gets 400
         */
        void apply(Webhook webhook) throws Exception;
    }

    /** Throws {@link IllegalArgumentException} if the path is a pattern, or does not begin with a slash. */
    public WebhookEndpoint {
        requireNonNull(receiver, "receiver");
        requireNonNull(effect, "effect");
        if (!path.matches("/[^*?{}\\s]*")) {
            throw new IllegalArgumentException(
                    "the path of webhooks must begin with / and be no pattern: \"" + path + "\"");
        }
    }
}
