package dev.onlyonce.client.spring;

import dev.onlyonce.client.BusinessId;
import dev.onlyonce.client.InterceptorContract;
import dev.onlyonce.client.RetryingClient;
import java.net.URI;
import java.net.http.HttpClient;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.springframework.http.MediaType;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.web.client.RestClient;

@DisplayName("Spring's RestClient")
class RetryingRequestInterceptorTest extends InterceptorContract {
    @Override
    protected Answer post(RetryingClient client, @Nullable String id, URI uri, String json) {
        RestClient.RequestBodySpec request = RestClient.builder()
                .requestFactory(new JdkClientHttpRequestFactory(HttpClient.newHttpClient()))
                .requestInterceptor(new RetryingRequestInterceptor(client))
                // One behind it, which every attempt has to pass.
                .requestInterceptor((next, body, execution) -> execution.execute(next, body))
                .build()
                .post()
                .uri(uri)
                .contentType(MediaType.APPLICATION_JSON)
                .body(json);
        if (id != null) {
            request.attribute(BusinessId.ATTRIBUTE, id);
        }
        return request.exchange((sent, response) -> new Answer(
                response.getStatusCode().value(), Objects.requireNonNullElse(response.bodyTo(String.class), "")));
    }
}
