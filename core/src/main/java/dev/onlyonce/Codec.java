package dev.onlyonce;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;

/**
 * How a result is stored. Stateless and thread-safe. What one release has encoded, the next must decode.
 *
 * @param <T> the result
 */
public interface Codec<T> {

    /** To bytes. */
    byte[] encode(T value);

    /** From bytes. */
    T decode(byte[] bytes);

    /** From a pair of functions. */
    static <T> Codec<T> of(Function<T, byte[]> encode, Function<byte[], T> decode) {
        return new Codec<>() {
            @Override
            public byte[] encode(T value) {
                return encode.apply(value);
            }

            @Override
            public T decode(byte[] bytes) {
                return decode.apply(bytes);
            }
        };
    }

    /** Bytes as they are. The array is not copied. */
    static Codec<byte[]> bytes() {
        return of(bytes -> bytes, bytes -> bytes);
    }

    /** Text as UTF-8. */
    static Codec<String> text() {
        return of(text -> text.getBytes(StandardCharsets.UTF_8), bytes -> new String(bytes, StandardCharsets.UTF_8));
    }

    /** JSON, with a mapper of its own and the modules on the class path. */
    static <T> Codec<T> json(Class<T> type) {
        return json(type, new ObjectMapper().findAndRegisterModules());
    }

    /** JSON, with the application's mapper. */
    static <T> Codec<T> json(Class<T> type, ObjectMapper mapper) {
        return of(
                value -> {
                    try {
                        return mapper.writeValueAsBytes(value);
                    } catch (JsonProcessingException e) {
                        throw new UncheckedIOException("The result cannot be written as JSON", e);
                    }
                },
                bytes -> {
                    try {
                        return mapper.readValue(bytes, type);
                    } catch (IOException e) {
                        throw new UncheckedIOException(
                                "The stored result cannot be read as " + type.getName() + "; was the class changed?",
                                e);
                    }
                });
    }
}
