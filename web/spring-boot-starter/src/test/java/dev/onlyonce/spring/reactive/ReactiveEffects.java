package dev.onlyonce.spring.reactive;

import dev.onlyonce.spring.Unprotected;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** How often handlers ran, and gates at which they wait. */
@RestController
class ReactiveEffects {
    private final Map<String, AtomicInteger> counts = new ConcurrentHashMap<>();
    private final Map<String, Sinks.One<String>> gates = new ConcurrentHashMap<>();

    int count(String effect) {
        return counts.computeIfAbsent(effect, id -> new AtomicInteger()).incrementAndGet();
    }

    Sinks.One<String> gate(String id) {
        return gates.computeIfAbsent(id, any -> Sinks.one());
    }

    @GetMapping("/effects/{id}")
    Mono<String> effects(@PathVariable String id) {
        return Mono.just(String.valueOf(counts.getOrDefault(id, new AtomicInteger())));
    }

    @PostMapping("/gates/{id}")
    @Unprotected("opening a gate twice changes nothing")
    Mono<ResponseEntity<Void>> open(@PathVariable String id) {
        gate(id).tryEmitValue("open");
        return Mono.just(ResponseEntity.noContent().build());
    }
}
