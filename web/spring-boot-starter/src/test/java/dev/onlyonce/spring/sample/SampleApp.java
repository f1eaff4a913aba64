package dev.onlyonce.spring.sample;

import dev.onlyonce.OutcomeException;
import dev.onlyonce.Way;
import dev.onlyonce.http.Operation;
import dev.onlyonce.servlet.TenantResolver;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.spring.Unprotected;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** An application as people write them: handlers with and without transactions, and methods of beans. */
@SampleApplication
@Import({
    SampleApp.Ledger.class,
    SampleApp.Payments.class,
    SampleApp.Texts.class,
    SampleApp.Payouts.class,
    SampleApp.Outer.class,
    SampleApp.Transfers.class
})
class SampleApp {
    /** What a process prints when a handler has made its write and is stuck. */
    static final String IN_FLIGHT = "in flight";

    final AtomicInteger runs = new AtomicInteger();

    /** What requests to {@code /held} wait for. */
    final CountDownLatch held = new CountDownLatch(1);

    @Value("${sample.stuck:false}")
    private boolean stuck;

    @Bean
    static LosingCommits losingCommits() {
        return new LosingCommits();
    }

    @Bean
    TenantResolver tenants() {
        return request -> request.getHeader("X-Tenant");
    }

    /** Executed by the application itself. */
    @Bean
    Operation queued() {
        return Operation.builder("POST", "/queued").build();
    }

    /** What a payment is. */
    record Payment(String id, long amount, Instant at) {}

    @Component
    static class Ledger {
        private final JdbcTemplate jdbc;

        Ledger(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
            jdbc.execute("CREATE TABLE IF NOT EXISTS ledger (id VARCHAR(100), amount BIGINT)");
        }

        @Transactional
        public void book(String id, long amount) {
            jdbc.update("INSERT INTO ledger (id, amount) VALUES (?, ?)", id, amount);
            if (amount < 0) {
                throw new ResponseStatusException(HttpStatus.PAYMENT_REQUIRED, "not enough money");
            }
        }

        long rows(String id) {
            Long count = jdbc.queryForObject("SELECT COUNT(*) FROM ledger WHERE id = ?", Long.class, id);
            return count == null ? 0 : count;
        }
    }

    @RestController
    static class Payments {
        private final Ledger ledger;
        private final SampleApp app;

        Payments(Ledger ledger, SampleApp app) {
            this.ledger = ledger;
            this.app = app;
        }

        @PostMapping("/payments")
        @Idempotent
        @Transactional
        public ResponseEntity<Map<String, Object>> pay(@RequestBody Map<String, Object> order) {
            return pay(String.valueOf(order.get("id")), ((Number) order.get("amount")).longValue());
        }

        @PostMapping("/explicit")
        @Idempotent(way = Way.TRANSACTIONAL)
        public ResponseEntity<Map<String, Object>> explicit(@RequestBody Map<String, Object> order) {
            return pay(String.valueOf(order.get("id")), ((Number) order.get("amount")).longValue());
        }

        private ResponseEntity<Map<String, Object>> pay(String id, long amount) {
            int run = app.runs.incrementAndGet();
            ledger.book(id, amount);
            if (amount == 500) {
                throw new IllegalStateException("broken after the write");
            }
            if (amount == 503) {
                return ResponseEntity.status(503).body(Map.of("run", run));
            }
            return ResponseEntity.status(201).body(Map.of("run", run));
        }

        @PostMapping("/swallowed")
        @Idempotent
        @Transactional
        public ResponseEntity<String> swallowed(@RequestBody Map<String, Object> order) {
            int run = app.runs.incrementAndGet();
            try {
                ledger.book(String.valueOf(order.get("id")), -1);
            } catch (ResponseStatusException swallowed) {
                // The transaction is marked for rollback all the same.
            }
            return ResponseEntity.status(201).header("Location", "/run/" + run).body("run " + run);
        }

        @PostMapping("/stuck-leased")
        @Idempotent
        public ResponseEntity<String> stuckLeased(@RequestBody Map<String, Object> order) throws InterruptedException {
            return stuck(order);
        }

        @PostMapping("/stuck-transactional")
        @Idempotent
        @Transactional
        public ResponseEntity<String> stuckTransactional(@RequestBody Map<String, Object> order)
                throws InterruptedException {
            return stuck(order);
        }

        private ResponseEntity<String> stuck(Map<String, Object> order) throws InterruptedException {
            ledger.book(String.valueOf(order.get("id")), 10);
            if (app.stuck) {
                System.out.println(IN_FLIGHT);
                new CountDownLatch(1).await();
            }
            return ResponseEntity.status(201).body("done");
        }

        @PostMapping("/held")
        @Idempotent
        public ResponseEntity<String> held() throws InterruptedException {
            app.held.await();
            return ResponseEntity.status(201).body("run " + app.runs.incrementAndGet());
        }

        @PostMapping("/held-transactional")
        @Idempotent
        @Transactional
        public ResponseEntity<String> heldTransactional() throws InterruptedException {
            return held();
        }

        @GetMapping("/rows/{id}")
        public long rows(@PathVariable String id) {
            return ledger.rows(id);
        }

        @PostMapping("/callable")
        @Idempotent
        public Callable<String> callable() {
            return () -> "called " + app.runs.incrementAndGet();
        }

        @PostMapping("/future")
        @Idempotent
        public CompletableFuture<String> future() {
            return CompletableFuture.supplyAsync(() -> "came " + app.runs.incrementAndGet());
        }

        @PostMapping("/refused")
        @Idempotent
        public void refused() {
            throw new ResponseStatusException(HttpStatus.CONFLICT, "refused " + app.runs.incrementAndGet());
        }

        @PostMapping("/strict-failure")
        @Idempotent(profile = "strict")
        public void strictFailure() {
            throw new IllegalStateException("who knows " + app.runs.incrementAndGet());
        }

        @PostMapping("/forgotten")
        public String forgotten() {
            return "anybody may call this twice";
        }

        @PostMapping("/harmless")
        @Unprotected("it changes nothing")
        public String harmless() {
            return "ok";
        }
    }

    /** What a bean inherits is its own operation. */
    abstract static class Inherited<T> {
        @Autowired
        private SampleApp app;

        abstract T make(String id, int run);

        @Idempotent(key = "#id")
        public T inherited(String id) {
            return make(id, app.runs.incrementAndGet());
        }
    }

    @Component
    static class Texts extends Inherited<String> {
        @Override
        String make(String id, int run) {
            return id + " " + run;
        }
    }

    @Component
    static class Payouts extends Inherited<Payment> {
        @Override
        Payment make(String id, int run) {
            return new Payment(id, run, Instant.EPOCH);
        }
    }

    /** Calls protected methods in a transaction of its own. */
    @Component
    static class Outer {
        private final Ledger ledger;
        private final Transfers transfers;

        Outer(Ledger ledger, Transfers transfers) {
            this.ledger = ledger;
            this.transfers = transfers;
        }

        @Transactional
        public void twice(String id) {
            ledger.book(id + "-outer", 1);
            transfers.transactional(id, 10);
            transfers.transactional(id, 10);
            try {
                transfers.transactional(id, 11);
                throw new AssertionError("other arguments were accepted");
            } catch (OutcomeException expected) {
                // And the transaction goes on.
            }
            ledger.book(id + "-outer", 2);
        }

        @Transactional
        public void undone(String id) {
            transfers.transactional(id, 10);
            throw new IllegalStateException("after all");
        }
    }

    @Component
    static class Transfers {
        private final Ledger ledger;
        private final SampleApp app;

        Transfers(Ledger ledger, SampleApp app) {
            this.ledger = ledger;
            this.app = app;
        }

        @Idempotent(key = "#id")
        public Payment leased(String id, long amount) {
            app.runs.incrementAndGet();
            return new Payment(id, amount, Instant.EPOCH.plusSeconds(app.runs.get()));
        }

        @Idempotent(key = "#id", tenant = "#tenant", operation = "many")
        public List<Payment> many(String tenant, String id) {
            app.runs.incrementAndGet();
            return List.of(new Payment(id, 1, Instant.EPOCH), new Payment(tenant, 2, Instant.EPOCH));
        }

        @Idempotent(key = "#id")
        public void failing(String id) {
            app.runs.incrementAndGet();
            throw new IllegalStateException("who knows");
        }

        @Idempotent(key = "#id")
        @Transactional
        public long transactional(String id, long amount) {
            app.runs.incrementAndGet();
            ledger.book(id, amount);
            if (amount == 500) {
                throw new IllegalStateException("after the write");
            }
            return amount;
        }
    }
}
