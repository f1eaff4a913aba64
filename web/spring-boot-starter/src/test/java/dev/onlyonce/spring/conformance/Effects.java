package dev.onlyonce.spring.conformance;

import dev.onlyonce.spring.Unprotected;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** How often handlers ran, and gates at which they wait. */
@RestController
class Effects {
    private final Map<String, AtomicInteger> counts = new ConcurrentHashMap<>();
    private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();

    int count(String effect) {
        return counts.computeIfAbsent(effect, id -> new AtomicInteger()).incrementAndGet();
    }

    CountDownLatch gate(String id) {
        return gates.computeIfAbsent(id, any -> new CountDownLatch(1));
    }

    @GetMapping("/effects/{id}")
    String effects(@PathVariable String id) {
        return String.valueOf(counts.getOrDefault(id, new AtomicInteger()));
    }

    @PostMapping("/gates/{id}")
    @Unprotected("opening a gate twice changes nothing")
    ResponseEntity<Void> open(@PathVariable String id) {
        gate(id).countDown();
        return ResponseEntity.noContent().build();
    }
}
