package dev.onlyonce.spring.reactive;

import dev.onlyonce.Scope;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.store.Time;
import java.time.temporal.ChronoUnit;
import java.util.Set;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.Order;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.reactive.EnableWebFluxSecurity;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.userdetails.ReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/**
 * The application of the conformance suite on WebFlux, protected by the starter and secured by Spring Security. It does not look for the
 * other applications of this package.
 */
@SpringBootConfiguration
@EnableAutoConfiguration
@Import(ReactiveEffects.class)
@EnableWebFluxSecurity
class ReactiveConformanceApp {

    @Bean
    SecurityWebFilterChain security(ServerHttpSecurity http) {
        return http.authorizeExchange(exchanges -> exchanges.anyExchange().authenticated())
                .httpBasic(Customizer.withDefaults())
                .csrf(csrf -> csrf.disable())
                .build();
    }

    @Bean
    ReactiveUserDetailsService users() {
        return name -> Set.of("acme", "zenith").contains(name)
                ? Mono.just(User.withUsername(name)
                        .password("{noop}secret")
                        .authorities("USER")
                        .build())
                : Mono.empty();
    }

    /** Reactor Netty sends none, and the suite reads the server's clock from it. */
    @Bean
    @Order(-1000)
    WebFilter date(Time time) {
        return (exchange, chain) -> {
            exchange.getResponse()
                    .getHeaders()
                    .setDate(time.now().truncatedTo(ChronoUnit.SECONDS).toEpochMilli());
            return chain.filter(exchange);
        };
    }

    @RestController
    @RequestMapping("/ietf")
    @Idempotent
    static class Ietf extends ReactiveHandlers {}

    @RestController
    @RequestMapping("/stripe")
    @Idempotent(profile = "stripe")
    static class Stripe extends ReactiveHandlers {}

    @RestController
    @RequestMapping("/strict")
    @Idempotent(profile = "strict")
    static class Strict extends ReactiveHandlers {}

    @RestController
    @RequestMapping("/operation")
    @Idempotent(scope = Scope.OPERATION)
    static class InOperation extends ReactiveHandlers {}

    @RestController
    @RequestMapping("/accepted")
    @Idempotent
    static class Accepted extends ReactiveHandlers {}

    @RestController
    @RequestMapping("/waiting")
    @Idempotent
    static class Waiting extends ReactiveHandlers {}

    @RestController
    @RequestMapping("/lease")
    @Idempotent(lease = "2s")
    static class ShortLease extends ReactiveHandlers {}

    @RestController
    @RequestMapping("/retention")
    @Idempotent(retention = "1s")
    static class ShortRetention extends ReactiveHandlers {}

    @RestController
    @RequestMapping("/tombstone")
    @Idempotent(retention = "1s")
    static class Tombstone extends ReactiveHandlers {}

    @RestController
    @RequestMapping("/stripe-tombstone")
    @Idempotent(profile = "stripe", retention = "1s")
    static class StripeTombstone extends ReactiveHandlers {}

    @RestController
    @RequestMapping("/strict-tombstone")
    @Idempotent(profile = "strict", retention = "1s")
    static class StrictTombstone extends ReactiveHandlers {}

    @RestController
    @RequestMapping("/stripe-unknown")
    @Idempotent(profile = "stripe")
    static class StripeUnknown extends ReactiveHandlers {}

    @RestController
    @RequestMapping("/uuid")
    @Idempotent
    static class Uuid extends ReactiveHandlers {}

    @RestController
    @RequestMapping("/personal")
    @Idempotent
    static class Personal extends ReactiveHandlers {}

    @RestController
    @RequestMapping("/timestamp")
    @Idempotent
    static class Timestamp extends ReactiveHandlers {}
}
