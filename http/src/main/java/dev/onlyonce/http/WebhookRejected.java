package dev.onlyonce.http;

import java.io.Serial;

/** A handler cannot apply a webhook and never will: it cannot be read, or says something impossible. Answered with 400. */
public final class WebhookRejected extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    /** With what the sender should know. Do not quote the webhook. */
    public WebhookRejected(String message) {
        super(message);
    }
}
