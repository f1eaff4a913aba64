package dev.onlyonce.client.spring;

import dev.onlyonce.client.BusinessId;
import dev.onlyonce.client.InterceptorContract;
import dev.onlyonce.client.RetryingClient;
import java.net.URI;
import java.net.http.HttpClient;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.springframework.http.MediaType;
import org.springframework.http.client.reactive.JdkClientHttpConnector;
import org.springframework.web.reactive.function.client.ExchangeStrategies;
import org.springframework.web.reactive.function.client.WebClient;

@DisplayName("Spring's WebClient")
class RetryingExchangeFilterTest extends InterceptorContract {
    @Override
    protected Answer post(RetryingClient client, @Nullable String id, URI uri, String json) {
        WebClient.RequestBodySpec request = WebClient.builder()
                .clientConnector(new JdkClientHttpConnector(HttpClient.newHttpClient()))
                .filter(new RetryingExchangeFilter(
                        client,
                        ExchangeStrategies.builder()
                                .codecs(codecs -> codecs.defaultCodecs().maxInMemorySize(-1))
                                .build()))
                .build()
                .post()
                .uri(uri)
                .contentType(MediaType.APPLICATION_JSON);
        if (id != null) {
            request.attribute(BusinessId.ATTRIBUTE, id);
        }
        return request.bodyValue(json)
                .exchangeToMono(response -> response.bodyToMono(String.class)
                        .defaultIfEmpty("")
                        .map(body -> new Answer(response.statusCode().value(), body)))
                .block();
    }
}
