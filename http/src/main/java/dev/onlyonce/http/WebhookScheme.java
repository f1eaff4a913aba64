package dev.onlyonce.http;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * How a sender proves that a webhook is its own. {@link #stripe}, {@link #standard}, {@link #svix} and {@link #github} are ready;
 * {@link HmacScheme#builder} makes others that sign with a shared secret; implement this interface for anything else.
 * Implementations are thread-safe.
 */
public interface WebhookScheme {
    /**
     * Checks the bytes as they came, before anything reads them.
     *
     * @param now this node's time
     * @return what is wrong, without any part of the secret or of a valid signature; empty if the webhook is genuine
     */
    Optional<String> refusal(Headers headers, byte[] body, Instant now);

    /** Where these senders put the id of a webhook. It is read after {@link #refusal} has found nothing. */
    WebhookId id();

    /** How far the time of signing may be off, either way; empty if it is not checked. Ids must be remembered for longer. */
    default Optional<Duration> tolerance() {
        return Optional.empty();
    }

    /**
     * JSON pointers of members that differ between two deliveries of the same webhook. They are left out when the content of a
     * second delivery is compared with the first.
     */
    default List<String> changingMembers() {
        return List.of();
    }

    /**
     * {@code Stripe-Signature: t=<seconds>,v1=<hex>}. The id is the member {@code id} of the event.
     *
     * @param secrets the endpoint's secrets as the dashboard shows them ({@code whsec_…}); several while one is replaced
     * @throws IllegalArgumentException if there is none, or one is blank
     */
    static HmacScheme stripe(String... secrets) {
        return HmacScheme.builder("Stripe-Signature")
                .format(SignatureFormat.stripe())
                .content("{timestamp}.{body}")
                .id(WebhookId.json("/id"))
                // Counts the endpoints that have not answered yet.
                .changingMembers("/pending_webhooks")
                .secrets(secrets)
                .build();
    }

    /**
     * The symmetric signatures of <a href="https://www.standardwebhooks.com">Standard Webhooks</a>: {@code webhook-id},
     * {@code webhook-timestamp} and {@code webhook-signature}.
     *
     * @param secrets {@code whsec_} and Base64, or the Base64 alone; several while one is replaced
     * @throws IllegalArgumentException if there is none, or one is not Base64
     */
    static HmacScheme standard(String... secrets) {
        return standard("webhook", secrets);
    }

    /** As {@link #standard}, with {@code svix-id}, {@code svix-timestamp} and {@code svix-signature}. */
    static HmacScheme svix(String... secrets) {
        return standard("svix", secrets);
    }

    private static HmacScheme standard(String prefix, String... secrets) {
        return HmacScheme.builder(prefix + "-signature")
                .format(SignatureFormat.standard())
                .timestampHeader(prefix + "-timestamp")
                .idHeader(prefix + "-id")
                .content("{id}.{timestamp}.{body}")
                .base64Secrets(secrets)
                .build();
    }

    /**
     * {@code X-Hub-Signature-256: sha256=<hex>}. The id is the header {@code X-GitHub-Delivery}. GitHub signs the body alone,
     * neither the id nor a time: who has seen a delivery can send it again under another id, at any time.
     *
     * @param secrets the webhook's secrets; several while one is replaced
     * @throws IllegalArgumentException if there is none, or one is blank
     */
    static HmacScheme github(String... secrets) {
        return HmacScheme.builder("X-Hub-Signature-256")
                .prefix("sha256=")
                .id(WebhookId.header("X-GitHub-Delivery"))
                .secrets(secrets)
                .build();
    }
}
