package dev.onlyonce.webflux;

import static dev.onlyonce.webflux.IdempotentHandler.idempotent;
import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.web.reactive.function.server.RouterFunctions.route;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Operation;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Time;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.reactive.function.server.HandlerStrategies;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

@DisplayName("The filter in Spring WebFlux without Spring Boot")
class PlainWebFluxTest {
    private final AtomicInteger runs = new AtomicInteger();
    private final Time time = Time.system();
    private final Onlyonce once =
            Onlyonce.builder(new MemoryStore(time)).time(time).build();
    private final OnlyonceWebFilter filter = OnlyonceWebFilter.builder(Boundary.builder(once)
                    .operation(Operation.builder("POST", "/orders/{id}").build())
                    .build())
            .tenants(exchange -> Mono.just("acme"))
            .build();
    private DisposableServer server;

    @BeforeEach
    void start() {
        var routes = route().POST(
                        "/orders/{id}",
                        request -> request.bodyToMono(String.class)
                                .defaultIfEmpty("nothing")
                                .flatMap(body -> ServerResponse.ok().bodyValue(body + " " + runs.incrementAndGet())))
                .POST("/elsewhere", idempotent(request -> ServerResponse.ok().bodyValue(runs.incrementAndGet())))
                .build();
        server = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle(new ReactorHttpHandlerAdapter(RouterFunctions.toHttpHandler(
                        routes, HandlerStrategies.builder().webFilter(filter).build())))
                .bindNow();
    }

    @AfterEach
    void stop() {
        server.disposeNow();
        filter.close();
        once.close();
        time.close();
    }

    @Test
    @DisplayName("R1 finds operations by their path, in another spelling too")
    void byPath() throws Exception {
        assertThat(post("/orders/1", "key-1", "one").body()).isEqualTo("one 1");
        HttpResponse<String> retry = post("/orders/1", "key-1", "one");
        assertThat(retry.body()).isEqualTo("one 1");
        assertThat(retry.headers().firstValue("Idempotent-Replayed")).contains("true");
        assertThat(post("/%6Frders/1", "key-2", "two").body()).isEqualTo("two 2");
        assertThat(post("/%6Frders/1", "key-2", "two").body()).isEqualTo("two 2");
        assertThat(post("/orders/1", "key-1", "other").statusCode()).isEqualTo(422);
        assertThat(runs).hasValue(2);
    }

    @Test
    @DisplayName("refuses to call an idempotent handler that the filter did not see as such")
    void bare() throws Exception {
        assertThat(post("/elsewhere", "key-1", "one").statusCode()).isEqualTo(500);
        assertThat(runs).hasValue(0);
    }

    private HttpResponse<String> post(String path, String key, String body) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                                .header("Idempotency-Key", key)
                                .POST(HttpRequest.BodyPublishers.ofString(body))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }
}
