package dev.onlyonce.payments.web;

import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** Reads request bodies whose bytes are needed too: what a key stands for is the request as it was sent. */
@Component
class Bodies {
    private final JsonMapper json;

    Bodies(JsonMapper json) {
        this.json = json;
    }

    /** Throws {@link Refusal}. */
    <T> T read(byte[] body, Class<T> type) {
        try {
            T value = json.readValue(body, type);
            if (value == null) {
                throw new Refusal(HttpStatus.BAD_REQUEST, "request_invalid", "The body is missing or is not JSON");
            }
            return value;
        } catch (JacksonException e) {
            throw Refusals.unreadable(e);
        }
    }

    byte[] write(Object body) {
        return json.writeValueAsBytes(body);
    }
}
