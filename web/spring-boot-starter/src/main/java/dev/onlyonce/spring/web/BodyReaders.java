package dev.onlyonce.spring.web;

import jakarta.servlet.http.HttpServletRequest;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.http.converter.GenericHttpMessageConverter;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.http.converter.SmartHttpMessageConverter;
import org.springframework.web.HttpMediaTypeNotSupportedException;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;

/**
 * Finds out before a key is claimed that no converter of Spring MVC can read a request's body. Spring notices that only when it
 * calls the handler. By then the key has the fingerprint of a request that was refused for its format, and a corrected request
 * would be another one.
 */
final class BodyReaders {
    private final ObjectProvider<RequestMappingHandlerAdapter> adapters;

    BodyReaders(ObjectProvider<RequestMappingHandlerAdapter> adapters) {
        this.adapters = adapters;
    }

    /** What Spring will throw; null if it can read the body, or if that is not known yet. */
    @Nullable
    HttpMediaTypeNotSupportedException refusal(HttpServletRequest request, HandlerMethod handler) {
        String sent = request.getContentType();
        MethodParameter body = body(handler);
        if (sent == null || body == null) {
            return null;
        }
        try {
            MediaType type = MediaType.parseMediaType(sent);
            List<HttpMessageConverter<?>> converters = adapters.stream()
                    .flatMap(adapter -> adapter.getMessageConverters().stream())
                    .toList();
            return converters.isEmpty() || converters.stream().anyMatch(each -> canRead(each, body, type))
                    ? null
                    : new HttpMediaTypeNotSupportedException(type, supported(converters, body));
        } catch (InvalidMediaTypeException e) {
            return new HttpMediaTypeNotSupportedException(e.getMessage());
        }
    }

    private static @Nullable MethodParameter body(HandlerMethod handler) {
        for (MethodParameter parameter : handler.getMethodParameters()) {
            if (parameter.hasParameterAnnotation(RequestBody.class) && parameter.getParameterType() != Optional.class) {
                return parameter;
            }
        }
        return null;
    }

    private static boolean canRead(HttpMessageConverter<?> converter, MethodParameter body, MediaType type) {
        Type target = body.getGenericParameterType();
        Class<?> targetClass = ResolvableType.forMethodParameter(body).resolve(Object.class);
        if (converter instanceof GenericHttpMessageConverter<?> generic) {
            return generic.canRead(target, body.getContainingClass(), type);
        }
        if (converter instanceof SmartHttpMessageConverter<?> smart) {
            return smart.canRead(ResolvableType.forMethodParameter(body), type);
        }
        return converter.canRead(targetClass, type);
    }

    private static List<MediaType> supported(List<HttpMessageConverter<?>> converters, MethodParameter body) {
        Class<?> targetClass = ResolvableType.forMethodParameter(body).resolve(Object.class);
        return converters.stream()
                .flatMap(converter -> converter.getSupportedMediaTypes(targetClass).stream())
                .distinct()
                .toList();
    }
}
