package dev.onlyonce.payments.domain;

import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.StoredResponse;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/**
 * What clients are answered, as bytes: made once, when the outcome is known, and recorded. Who asks again gets these bytes,
 * whatever has become of the payment since.
 */
public final class PaymentAnswer {
    private static final JsonMapper JSON = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .build();

    private PaymentAnswer() {}

    /** For a payment whose outcome is known. */
    public static HttpAnswer of(Payment payment) {
        return answer(payment.status(), "/payments/" + payment.id(), payment);
    }

    /** As the entry keeps it. */
    public static byte[] record(HttpAnswer answer) {
        return StoredResponse.of(answer).encode();
    }

    /** How a payment ended, by its answer. */
    public record Ended(String status, @Nullable String providerId) {}

    /** Reads what was recorded of a payment; an answer that is no payment's says that it was given up. */
    public static Ended read(byte[] recorded) {
        return StoredResponse.decode(recorded)
                .flatMap(StoredResponse::body)
                .map(body -> JSON.readTree(body))
                .map(payment -> new Ended(
                        payment.path("status").asString(Payment.FAILED),
                        payment.path("provider_id").asString(null)))
                .orElse(new Ended(Payment.FAILED, null));
    }

    private static HttpAnswer answer(String status, String location, Object body) {
        Headers headers = Headers.of("Content-Type", "application/json");
        // Declined is an answer as final as any: 402, recorded and repeated.
        return status.equals(Payment.SUCCEEDED)
                ? new HttpAnswer(201, headers.plus("Location", location), json(body))
                : new HttpAnswer(402, headers, json(body));
    }

    /** As JSON. */
    public static byte[] json(Object value) {
        return JSON.writeValueAsBytes(value);
    }
}
