package dev.onlyonce.payments.storm;

import java.nio.charset.StandardCharsets;

/** A payment or a refund to be sent: who sends it under which key, and what. */
record StormPayment(String apiKey, String key, String path, long amount, byte[] body) {
    /** A refund of two thirds of this payment, which has succeeded. */
    StormPayment refund(String paymentId) {
        long part = amount - amount / 3;
        byte[] order = "{\"amount\": %d}".formatted(part).getBytes(StandardCharsets.UTF_8);
        return new StormPayment(apiKey, key + "-refund", "/payments/" + paymentId + "/refunds", part, order);
    }
}
