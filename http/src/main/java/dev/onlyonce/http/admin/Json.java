package dev.onlyonce.http.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.exc.ValueInstantiationException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** How the admin API writes and reads. */
public final class Json {
    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .defaultPropertyInclusion(
                    JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, JsonInclude.Include.NON_NULL))
            // Of a member that stands twice, somebody else may read the other one.
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .build();

    /** A newer release may say more. */
    private static final ObjectMapper TOLERANT =
            MAPPER.copy().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

    private Json() {}

    /** To bytes. */
    public static byte[] write(Object value) {
        try {
            return MAPPER.writeValueAsBytes(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("records of texts and numbers can be written", e);
        }
    }

    /** For people. */
    public static String pretty(Object value) {
        try {
            return MAPPER.writer().with(SerializationFeature.INDENT_OUTPUT).writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("records of texts and numbers can be written", e);
        }
    }

    /** What somebody asks, from bytes; throws {@link IllegalArgumentException} with what is wrong. */
    public static <T> T read(byte[] bytes, Class<T> type) {
        return read(MAPPER, bytes, type);
    }

    /** What a gateway of this or a newer release answers; throws {@link IllegalArgumentException} with what is wrong. */
    public static <T> T readAnswer(byte[] bytes, Class<T> type) {
        return read(TOLERANT, bytes, type);
    }

    private static <T> T read(ObjectMapper mapper, byte[] bytes, Class<T> type) {
        try {
            T value = mapper.readValue(bytes, type);
            if (value == null) {
                throw new IllegalArgumentException("the JSON is not as expected: it is null");
            }
            return value;
        } catch (ValueInstantiationException e) {
            // What a record says of its own values; the rest of the message is about our code.
            throw new IllegalArgumentException("the JSON is not as expected: " + why(e), e);
        } catch (MismatchedInputException e) {
            throw new IllegalArgumentException("the JSON is not as expected: " + what(e), e);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("the JSON is not as expected: " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new IllegalArgumentException("the JSON cannot be read", e);
        }
    }

    /** The library's own words are about our code. */
    private static String what(MismatchedInputException e) {
        String where = e.getPath().stream()
                .map(JsonMappingException.Reference::getFieldName)
                .filter(Objects::nonNull)
                .collect(Collectors.joining("."));
        if (e instanceof UnrecognizedPropertyException) {
            return "there is no member " + where;
        }
        return where.isEmpty() ? "it must be an object" : where + " has another kind of value";
    }

    private static @Nullable String why(ValueInstantiationException e) {
        return e.getCause() == null ? e.getOriginalMessage() : e.getCause().getMessage();
    }
}
