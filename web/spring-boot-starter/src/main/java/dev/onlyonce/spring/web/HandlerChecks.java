package dev.onlyonce.spring.web;

import dev.onlyonce.Key;
import dev.onlyonce.Way;
import dev.onlyonce.http.Operation;
import dev.onlyonce.spring.Queued;
import dev.onlyonce.spring.operations.InvalidSettings;
import dev.onlyonce.sql.steps.StepRunner;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import org.springframework.core.MethodParameter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.http.HttpEntity;
import org.springframework.http.MediaType;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/** What the signature of a protected handler says. */
final class HandlerChecks {
    private HandlerChecks() {}

    /** Refuses a handler whose signature does not fit its way. */
    static void check(HandlerMethod handler, Way way, Operation operation) {
        String name = handler.getShortLogMessage();
        boolean returnsQueued = handler.getReturnType().getParameterType() == Queued.class;
        if (way == Way.QUEUED && !returnsQueued) {
            throw new InvalidSettings(
                    name + " is queued, but it does not return what to queue",
                    "Let it return Queued, such as Queued.of(payment); to refuse a request, throw an exception.",
                    null);
        }
        if (returnsQueued && way != Way.QUEUED) {
            throw new InvalidSettings(
                    name + " returns Queued, but it runs the " + way + " way, so nobody would make the call",
                    "Annotate it with @Idempotent(way = Way.QUEUED).",
                    null);
        }
        boolean takesKey = Arrays.stream(handler.getMethodParameters())
                .anyMatch(parameter -> parameter.getParameterType() == Key.class);
        if (takesKey && way == Way.LEASED) {
            throw new InvalidSettings(
                    name + " has a parameter of type Key, which leased handlers do not get",
                    "Read the Idempotency-Key header instead, or use another way.",
                    null);
        }
        if (!operation.profile().keyRequired() && (takesKey || way == Way.QUEUED || way == Way.STEPPED)) {
            throw new InvalidSettings(
                    name + " runs the " + way + " way and cannot run without a key, but requests without one pass",
                    "Set onlyonce.operations.[" + operation.name() + "].key-required=true.",
                    null);
        }
        boolean takesSteps = Arrays.stream(handler.getMethodParameters()).anyMatch(HandlerChecks::isSteps);
        if (takesSteps != (way == Way.STEPPED)) {
            throw new InvalidSettings(
                    takesSteps
                            ? name + " has a parameter of type StepRunner, but it runs the " + way + " way"
                            : name + " runs in steps, but it has no parameter of type StepRunner to run them with",
                    takesSteps
                            ? "Annotate it with @Idempotent(way = Way.STEPPED)."
                            : "Add a parameter of type dev.onlyonce.sql.steps.StepRunner, and make each effect in a step.",
                    null);
        }
    }

    private static boolean isSteps(MethodParameter parameter) {
        return parameter.getParameterType() == StepRunner.class;
    }

    static boolean isStreaming(RequestMappingInfo info, HandlerMethod handler) {
        return ResponseBodyEmitter.class.isAssignableFrom(body(handler))
                || info.getProducesCondition().getProducibleMediaTypes().stream()
                        .anyMatch(MediaType.TEXT_EVENT_STREAM::includes);
    }

    static boolean isAsynchronous(HandlerMethod handler) {
        Class<?> type = body(handler);
        return Callable.class.isAssignableFrom(type)
                || DeferredResult.class.isAssignableFrom(type)
                || WebAsyncTask.class.isAssignableFrom(type)
                || CompletionStage.class.isAssignableFrom(type)
                || StreamingResponseBody.class.isAssignableFrom(type)
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
    }

    /** What a handler returns, without the {@code ResponseEntity} around it. */
    private static Class<?> body(HandlerMethod handler) {
        ResolvableType type = ResolvableType.forMethodParameter(handler.getReturnType());
        return HttpEntity.class.isAssignableFrom(type.toClass())
                ? type.as(HttpEntity.class).getGeneric(0).toClass()
                : type.toClass();
    }
}
