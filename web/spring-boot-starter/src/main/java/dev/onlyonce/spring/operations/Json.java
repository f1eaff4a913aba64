package dev.onlyonce.spring.operations;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/** How arguments are compared and results of bean methods recorded. Stored: a change of format loses results. */
public interface Json {

    byte[] write(@Nullable Object value);

    @Nullable
    Object read(byte[] json, Type type);

    /** By the mapper that the application uses for JSON anyway. */
    static Json of(tools.jackson.databind.ObjectMapper mapper) {
        return new Json() {
            @Override
            public byte[] write(@Nullable Object value) {
                return mapper.writeValueAsBytes(value);
            }

            @Override
            public @Nullable Object read(byte[] json, Type type) {
                return mapper.readValue(json, mapper.constructType(type));
            }
        };
    }

    /** By a mapper of our own, with the modules on the class path. */
    static Json standard() {
        ObjectMapper mapper = new ObjectMapper().findAndRegisterModules();
        return new Json() {
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
