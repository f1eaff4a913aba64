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
import java.util.concurrent.TimeUnit;
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

/**
 * Sends requests that have a {@link BusinessId} as a tag through a {@link RetryingClient}: its journal, its keys, its policy, and
 * the connections of OkHttp. A call in doubt is a {@link CallInDoubt}.
 */
public final class RetryingInterceptor implements Interceptor {
    private final RetryingClient client;

    private RetryingInterceptor(RetryingClient client) {
        this.client = client;
    }

    /**
     * Adds the interceptor, and turns off OkHttp's redirects, which would turn a POST into a GET, and its own retries: it would
     * send a request again that was answered 408, also to a server that does not honour keys.
     */
    public static OkHttpClient.Builder install(RetryingClient client, OkHttpClient.Builder builder) {
        return builder.addInterceptor(new RetryingInterceptor(client))
                .followRedirects(false)
                .followSslRedirects(false)
                .retryOnConnectionFailure(false);
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
                    CallInDoubt.responseOf(
                            client.send(id.value(), call, (attempt, timeout) -> exchange(chain, attempt, timeout))));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted; " + id + " stays open in the journal");
        }
    }

    private static CallResponse exchange(Chain chain, CallRequest attempt, Duration timeout) throws IOException {
        Request.Builder request =
                new Request.Builder().url(HttpUrl.get(attempt.uri().toString()));
        attempt.headers().forEach(request::header);
        boolean bodiless = attempt.method().equals("GET") || attempt.method().equals("HEAD");
        request.method(
                attempt.method(),
                bodiless ? null : RequestBody.create(attempt.body().open().readAllBytes()));
        int millis = (int) Math.max(1, Math.min(Integer.MAX_VALUE, timeout.toMillis()));
        Chain bounded = chain.withConnectTimeout(millis, TimeUnit.MILLISECONDS)
                .withReadTimeout(millis, TimeUnit.MILLISECONDS)
                .withWriteTimeout(millis, TimeUnit.MILLISECONDS);
        try (Response response = bounded.proceed(request.build())) {
            return new CallResponse(
                    response.code(),
                    response.headers().toMultimap(),
                    response.body().bytes(),
                    true);
        }
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
