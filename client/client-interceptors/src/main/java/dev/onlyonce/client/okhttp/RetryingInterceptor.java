package dev.onlyonce.client.okhttp;

import dev.onlyonce.client.BusinessId;
import dev.onlyonce.client.CallInDoubt;
import dev.onlyonce.client.CallRequest;
import dev.onlyonce.client.CallResponse;
import dev.onlyonce.client.RetryingClient;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import okhttp3.Call;
import okhttp3.EventListener;
import okhttp3.Headers;
import okhttp3.HttpUrl;
import okhttp3.Interceptor;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Protocol;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import okhttp3.ResponseBody;
import okio.Buffer;
import okio.BufferedSource;

/**
 * Sends requests that have a {@link BusinessId} as a tag through a {@link RetryingClient}: its journal, its keys, its policy, and
 * the connections and interceptors of an {@link OkHttpClient}. A call in doubt is a {@link CallInDoubt}.
 *
 * <p>Each attempt is a call of its own, because only a call has a deadline over all that it does.
 */
public final class RetryingInterceptor implements Interceptor {
    private final RetryingClient client;
    private final OkHttpClient http;
    /** The attempt that each call is making at present. */
    private final ConcurrentMap<Call, Call> attempts = new ConcurrentHashMap<>();

    private RetryingInterceptor(RetryingClient client, OkHttpClient http) {
        this.client = client;
        this.http = http;
    }

    /**
     * The same HTTP client, with the interceptor in front of its others. Requests with a tag do not follow redirects, which would turn
     * a POST into a GET, and are not repeated by OkHttp, also not to a server that does not honour keys.
     */
    public static OkHttpClient install(RetryingClient client, OkHttpClient http) {
        RetryingInterceptor interceptor = new RetryingInterceptor(client, http);
        OkHttpClient.Builder builder = http.newBuilder()
                .eventListenerFactory(
                        call -> http.eventListenerFactory().create(call).plus(interceptor.cancellation()));
        builder.interceptors().add(0, interceptor);
        return builder.build();
    }

    private EventListener cancellation() {
        return new EventListener() {
            @Override
            public void canceled(Call call) {
                Call attempt = attempts.get(call);
                if (attempt != null) {
                    attempt.cancel();
                }
            }
        };
    }

    @Override
    public Response intercept(Chain chain) throws IOException {
        Request request = chain.request();
        BusinessId id = request.tag(BusinessId.class);
        if (id == null) {
            return chain.proceed(request);
        }
        Buffer body = new Buffer();
        RequestBody given = request.body();
        if (given != null) {
            given.writeTo(body);
        }
        Map<String, List<String>> headers =
                request.newBuilder().build().headers().toMultimap();
        CallRequest call = CallRequest.of(request.method(), request.url().uri(), headers, body.readByteArray());
        if (given != null && given.contentType() != null) {
            call = call.header("Content-Type", String.valueOf(given.contentType()));
        }
        try {
            return response(
                    request,
                    CallInDoubt.responseOf(client.send(
                            id.value(), call, (attempt, timeout) -> exchange(chain.call(), attempt, timeout))));
        } catch (InterruptedException e) {
            if (!chain.call().isCanceled()) {
                Thread.currentThread().interrupt();
            }
            throw new InterruptedIOException("interrupted or canceled; " + id + " stays open in the journal");
        }
    }

    private CallResponse exchange(Call whole, CallRequest attempt, Duration timeout)
            throws IOException, InterruptedException {
        Call call = call(attempt, timeout);
        attempts.put(whole, call);
        try {
            if (whole.isCanceled()) {
                throw new InterruptedException("canceled");
            }
            try (Response response = call.execute()) {
                BufferedSource source = response.body().source();
                boolean isWhole = !source.request(CallResponse.BODY_BYTES_MAX + 1L);
                byte[] bytes = source.readByteArray(
                        Math.min(CallResponse.BODY_BYTES_MAX, source.getBuffer().size()));
                return new CallResponse(response.code(), response.headers().toMultimap(), bytes, isWhole);
            }
        } catch (IOException e) {
            if (whole.isCanceled()) {
                throw new InterruptedException("canceled");
            }
            throw e;
        } finally {
            attempts.remove(whole);
        }
    }

    private Call call(CallRequest attempt, Duration timeout) throws IOException {
        Request.Builder request =
                new Request.Builder().url(HttpUrl.get(attempt.uri().toString()));
        attempt.headers().forEach(request::header);
        boolean bodiless = attempt.method().equals("GET") || attempt.method().equals("HEAD");
        request.method(
                attempt.method(),
                bodiless ? null : RequestBody.create(attempt.body().open().readAllBytes()));
        long millis = Math.max(1, Math.min(Integer.MAX_VALUE, timeout.toMillis()));
        return http.newBuilder()
                .followRedirects(false)
                .followSslRedirects(false)
                .retryOnConnectionFailure(false)
                .connectTimeout(millis, TimeUnit.MILLISECONDS)
                .readTimeout(millis, TimeUnit.MILLISECONDS)
                .writeTimeout(millis, TimeUnit.MILLISECONDS)
                // All of it, with the last byte of the answer.
                .callTimeout(millis, TimeUnit.MILLISECONDS)
                .build()
                .newCall(request.build());
    }

    private static Response response(Request request, CallResponse answer) {
        Headers.Builder headers = new Headers.Builder();
        answer.headers().forEach((name, values) -> values.forEach(value -> headers.addUnsafeNonAscii(name, value)));
        MediaType type = answer.header("Content-Type").map(MediaType::parse).orElse(null);
        return new Response.Builder()
                .request(request)
                .protocol(Protocol.HTTP_1_1)
                .code(answer.status())
                .message("")
                .headers(headers.build())
                .body(ResponseBody.create(answer.body(), type))
                .build();
    }
}
