package dev.onlyonce.spring.operations;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * How arguments are compared and results of bean methods recorded. Stored: a change of format loses results. It names nothing of Jackson 3, which
 * Spring Boot 3.5 does not have: Spring looks at all methods of a bean.
 */
public interface JsonMapping {

    byte[] write(@Nullable Object value);

    @Nullable
    Object read(byte[] json, Type type);

    /** By a mapper of our own, with the modules on the class path. */
    static JsonMapping standard() {
        return of(new ObjectMapper().findAndRegisterModules());
    }

    /** By the mapper that an application of Spring Boot 3.5 uses for JSON. */
    static JsonMapping of(ObjectMapper mapper) {
        return new JsonMapping() {
            @Override
            public byte[] write(@Nullable Object value) {
                try {
                    return mapper.writeValueAsBytes(value);
                } catch (IOException e) {
                    throw new UncheckedIOException("The value cannot be written as JSON", e);
                }
            }

            @Override
            public @Nullable Object read(byte[] json, Type type) {
                try {
                    return mapper.readValue(json, mapper.constructType(type));
                } catch (IOException e) {
                    throw new UncheckedIOException("The stored result cannot be read as " + type, e);
                }
            }
        };
    }
}
