package dev.onlyonce.client.okhttp;

import dev.onlyonce.client.BusinessId;
import dev.onlyonce.client.InterceptorContract;
import dev.onlyonce.client.RetryingClient;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import okhttp3.HttpUrl;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;

@DisplayName("OkHttp")
class RetryingInterceptorTest extends InterceptorContract {
    @Override
    protected Answer post(RetryingClient client, @Nullable String id, URI uri, String json) throws IOException {
        OkHttpClient http = RetryingInterceptor.install(client, new OkHttpClient());
        Request.Builder request = new Request.Builder()
                .url(HttpUrl.get(uri.toString()))
                .post(RequestBody.create(json.getBytes(StandardCharsets.UTF_8), MediaType.get("application/json")));
        if (id != null) {
            request.tag(BusinessId.class, new BusinessId(id));
        }
        try (Response response = http.newCall(request.build()).execute()) {
            return new Answer(response.code(), response.body().string());
        } finally {
            http.dispatcher().executorService().shutdown();
            http.connectionPool().evictAll();
        }
    }
}
