package dev.onlyonce.spring.reactive;

import static dev.onlyonce.webflux.IdempotentHandler.idempotent;
import static org.springframework.web.reactive.function.server.RequestPredicates.path;
import static org.springframework.web.reactive.function.server.RouterFunctions.route;

import dev.onlyonce.NotExecuted;
import dev.onlyonce.spring.Idempotent;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.http.codec.multipart.FilePart;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestPart;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Handlers that end in every way that a publisher can. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration(excludeName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
@Import({ReactiveShop.Orders.class, ReactiveShop.StripeOrders.class, ReactiveShop.Advice.class})
class ReactiveShop {
    private static final Map<String, AtomicInteger> RUNS = new ConcurrentHashMap<>();

    final Sinks.Empty<Void> gate = Sinks.empty();
    final CountDownLatch started = new CountDownLatch(1);
    final CountDownLatch cancelled = new CountDownLatch(1);

    int runs(String id) {
        return RUNS.getOrDefault(id, new AtomicInteger()).get();
    }

    private static void count(String id) {
        RUNS.computeIfAbsent(id, any -> new AtomicInteger()).incrementAndGet();
    }

    private static <T> Mono<T> failing(String id, Throwable failure) {
        return Mono.defer(() -> {
            count(id);
            return Mono.error(failure);
        });
    }

    @Bean
    SecurityWebFilterChain security(ServerHttpSecurity http) {
        return http.csrf(csrf -> csrf.disable()).build();
    }

    /** Outside: it sees that the client has hung up. */
    @Bean
    @Order(-1000)
    WebFilter disconnects() {
        return (exchange, chain) -> chain.filter(exchange).doOnCancel(cancelled::countDown);
    }

    @Bean
    RouterFunction<ServerResponse> routes() {
        RouterFunction<ServerResponse> orders = route().POST("/orders", idempotent(ReactiveShop::order))
                .POST("/failing", idempotent("failing route", ReactiveShop::fail))
                .POST("/bare", request -> ServerResponse.ok().build())
                .onError(
                        IllegalStateException.class,
                        (e, request) -> ServerResponse.status(500).bodyValue("oops"))
                .build();
        return route().nest(path("/routes/{id}"), () -> orders)
                .filter((request, next) -> next.handle(request))
                .build();
    }

    private static Mono<ServerResponse> order(ServerRequest request) {
        count(request.headers().firstHeader("X-Run"));
        return ServerResponse.ok().bodyValue("ordered " + request.pathVariable("id"));
    }

    private static Mono<ServerResponse> fail(ServerRequest request) {
        return failing(request.headers().firstHeader("X-Run"), new IllegalStateException("broken"));
    }

    /** What an exception handler answers. */
    static final class Advised extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** A result that has no JSON. */
    static final class Unwritable {
        @SuppressWarnings("DoNotCallSuggester")
        public String getText() {
            throw new IllegalStateException("no text");
        }
    }

    @RestControllerAdvice
    static class Advice {
        @ExceptionHandler(Advised.class)
        ResponseEntity<String> advised(Advised e) {
            return ResponseEntity.internalServerError().body("advised");
        }

        @ExceptionHandler(TimeoutException.class)
        ResponseEntity<String> late(TimeoutException e) {
            return ResponseEntity.status(503).body("try again later");
        }
    }

    @RestController
    @Idempotent
    static class Orders {
        private final ReactiveShop shop;

        Orders(ReactiveShop shop) {
            this.shop = shop;
        }

        @PostMapping("/empty")
        Mono<Void> empty(@RequestHeader("X-Run") String run) {
            return Mono.fromRunnable(() -> count(run));
        }

        @PostMapping("/form")
        @Idempotent(keyField = "idempotency_key")
        Mono<String> form(@RequestHeader("X-Run") String run, ServerWebExchange web) {
            count(run);
            return web.getFormData().map(form -> String.valueOf(form.getFirst("item")));
        }

        @PostMapping("/flux")
        Flux<Map<String, Integer>> flux(@RequestHeader("X-Run") String run) {
            count(run);
            return Flux.range(1, 3).map(n -> Map.of("n", n));
        }

        @PostMapping("/flux-fails")
        Flux<Map<String, Integer>> fluxFails(@RequestHeader("X-Run") String run) {
            count(run);
            return Flux.range(1, 3)
                    .map(n -> Map.of("n", n))
                    .concatWith(Mono.error(new IllegalStateException("broken")));
        }

        @PostMapping("/refuses")
        Mono<String> refuses(@RequestHeader("X-Run") String run) {
            return failing(run, new ResponseStatusException(HttpStatus.CONFLICT, "sold out"));
        }

        @PostMapping("/fails")
        Mono<String> fails(@RequestHeader("X-Run") String run) {
            return failing(run, new IllegalStateException("broken"));
        }

        @PostMapping("/throws")
        Mono<String> throwing(@RequestHeader("X-Run") String run) {
            count(run);
            throw new IllegalStateException("broken");
        }

        @PostMapping("/fails-and-advised")
        Mono<String> advised(@RequestHeader("X-Run") String run) {
            return failing(run, new Advised());
        }

        @PostMapping("/throws-and-advised")
        Mono<String> throwingAdvised(@RequestHeader("X-Run") String run) {
            count(run);
            throw new Advised();
        }

        @PostMapping("/not-executed")
        Mono<String> notExecuted(@RequestHeader("X-Run") String run) {
            return failing(run, new NotExecuted("the connection was refused"));
        }

        @PostMapping("/late")
        Mono<String> late(@RequestHeader("X-Run") String run) {
            count(run);
            // The time is up at once.
            return Mono.<String>never().timeout(Mono.empty());
        }

        @PostMapping("/unwritable")
        Mono<Unwritable> unwritable(@RequestHeader("X-Run") String run) {
            count(run);
            return Mono.just(new Unwritable());
        }

        @PostMapping("/gate")
        Mono<String> gate(@RequestHeader("X-Run") String run) {
            return Mono.defer(() -> {
                count(run);
                shop.started.countDown();
                return shop.gate.asMono().thenReturn("through the gate");
            });
        }

        @PostMapping("/upload")
        Mono<String> upload(@RequestHeader("X-Run") String run, @RequestPart FilePart file) {
            count(run);
            return file.content()
                    .map(buffer -> buffer.toString(StandardCharsets.UTF_8))
                    .collect(Collectors.joining());
        }
    }

    @RestController
    static class StripeOrders {
        @Idempotent(profile = "stripe")
        @PostMapping("/stripe-late")
        Mono<String> late(@RequestHeader("X-Run") String run) {
            count(run);
            return Mono.<String>never().timeout(Mono.empty());
        }
    }
}
