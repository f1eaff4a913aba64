package dev.onlyonce.http;

/** Applies webhooks, each of them once: it remembers the webhook in the transaction of its effect. Thread-safe. */
@FunctionalInterface
public interface WebhookHandler {
    /**
     * Applies a webhook, unless it was applied before.
     *
     * @return whether it was applied now
     * @throws WebhookRejected if it cannot be applied, now or later: the sender gets 400
     * @throws dev.onlyonce.OutcomeException if a webhook with its id and other content was applied before: 422
     * @throws Exception anything else: nothing was applied, and the sender gets 500 or 503 and delivers it again
     */
    boolean apply(Webhook webhook) throws Exception;
}
