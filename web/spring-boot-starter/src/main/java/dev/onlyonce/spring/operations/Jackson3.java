package dev.onlyonce.spring.operations;

import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.ObjectMapper;

/** By the mapper that an application of Spring Boot 4 uses for JSON anyway. */
public record Jackson3(ObjectMapper mapper) implements JsonMapping {
    @Override
    public byte[] write(@Nullable Object value) {
        return mapper.writeValueAsBytes(value);
    }

    @Override
    public @Nullable Object read(byte[] json, Type type) {
        return mapper.readValue(json, mapper.constructType(type));
    }
}
