package dev.onlyonce.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/** Where the id of a webhook is: the same for each delivery, and for no other webhook of its source. Thread-safe. */
@FunctionalInterface
public interface WebhookId {
    /** The id; empty if there is none, or more than one. */
    Optional<String> of(Headers headers, byte[] body);

    /** The value of a header. Two lines of it are no id. */
    static WebhookId header(String name) {
        return (headers, body) -> {
            List<String> lines = headers.values(name);
            return lines.size() == 1 ? Optional.of(lines.get(0)) : Optional.empty();
        };
    }

    /**
     * A member of a JSON body, a text or a whole number.
     *
     * @param pointer a JSON pointer (RFC 6901) such as {@code /id}
     * @throws IllegalArgumentException if it is no JSON pointer
     */
    static WebhookId json(String pointer) {
        JsonPointer member = JsonPointer.compile(pointer);
        // Two members of one name would be read differently by others; so would UTF-16.
        JsonFactory strict = new JsonFactoryBuilder()
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .disable(JsonFactory.Feature.CHARSET_DETECTION)
                .build();
        ObjectReader json = new ObjectMapper(strict).reader().with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
        return (headers, body) -> {
            try {
                JsonNode id = json.readTree(body).at(member);
                return id.isTextual() || id.isIntegralNumber() ? Optional.of(id.asText()) : Optional.empty();
            } catch (IOException notJson) {
                return Optional.empty();
            }
        };
    }

    /** The SHA-256 of the body, for senders without ids. Two events with the same bytes are then one. */
    static WebhookId bodyDigest() {
        return (headers, body) -> {
            try {
                byte[] digest = MessageDigest.getInstance("SHA-256").digest(body);
                return Optional.of("sha256:" + HexFormat.of().formatHex(digest));
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException("every Java platform has SHA-256", e);
            }
        };
    }
}
