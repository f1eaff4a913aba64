package dev.onlyonce.server.observe;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapSetter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.vertx.core.MultiMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Spans for the parts of a protected exchange, as children of the trace that the client sent (W3C trace context). When traces
 * go nowhere, the client's {@code traceparent} is passed on as it came and this costs nothing. Thread-safe.
 */
public final class Traces implements AutoCloseable {
    @SuppressWarnings("deprecation") // One of its methods is, and must be there.
    private static final TextMapGetter<MultiMap> GET = new TextMapGetter<>() {
        @Override
        public Iterable<String> keys(MultiMap carrier) {
            return carrier.names();
        }

        @Override
        public @Nullable String get(@Nullable MultiMap carrier, String key) {
            return carrier == null ? null : carrier.get(key);
        }
    };

    private static final TextMapSetter<MultiMap> SET = (carrier, key, value) -> {
        if (carrier != null) {
            carrier.set(key, value);
        }
    };
    private static final long FLUSH_SECONDS = 5;

    private final @Nullable SdkTracerProvider provider;
    private final @Nullable Tracer tracer;

    private Traces(@Nullable SdkTracerProvider provider) {
        this.provider = provider;
        this.tracer = provider == null ? null : provider.get("dev.onlyonce.gateway");
    }

    /** To an OpenTelemetry collector (OTLP over HTTP, e.g. {@code http://127.0.0.1:4318/v1/traces}), or nowhere. */
    public static Traces to(@Nullable String otlpEndpoint) {
        return otlpEndpoint == null
                ? new Traces(null)
                : exporting(
                        OtlpHttpSpanExporter.builder().setEndpoint(otlpEndpoint).build());
    }

    /** To any exporter. */
    public static Traces exporting(SpanExporter exporter) {
        return new Traces(SdkTracerProvider.builder()
                .setResource(Resource.builder()
                        .put("service.name", "onlyonce-gateway")
                        .build())
                .addSpanProcessor(BatchSpanProcessor.builder(exporter).build())
                .build());
    }

    /** The trace that a request belongs to. */
    public Context of(MultiMap headers) {
        return tracer == null
                ? Context.root()
                : W3CTraceContextPropagator.getInstance().extract(Context.root(), headers, GET);
    }

    /** Starts a span; end it with {@link #end}. */
    public @Nullable Span start(String name, Context parent, SpanKind kind, String operation) {
        return tracer == null
                ? null
                : tracer.spanBuilder(name)
                        .setParent(parent)
                        .setSpanKind(kind)
                        .setAttribute("onlyonce.operation", operation)
                        .startSpan();
    }

    /** Tells the next server that it works inside this span. */
    public void passOn(@Nullable Span span, Context parent, MultiMap headers) {
        if (span != null) {
            W3CTraceContextPropagator.getInstance().inject(parent.with(span), headers, SET);
        }
    }

    /** Ends a span; with what went wrong, if anything did. */
    public static void end(@Nullable Span span, @Nullable String failure) {
        if (span != null) {
            if (failure != null) {
                span.setStatus(StatusCode.ERROR, failure);
            }
            span.end();
        }
    }

    /** Sends what is left. */
    @Override
    public void close() {
        if (provider != null) {
            CompletableResultCode done = provider.shutdown();
            done.join(FLUSH_SECONDS, TimeUnit.SECONDS);
        }
    }
}
