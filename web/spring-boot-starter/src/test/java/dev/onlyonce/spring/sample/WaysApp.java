package dev.onlyonce.spring.sample;

import dev.onlyonce.Codec;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.Reconciler;
import dev.onlyonce.Way;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.StoredResponse;
import dev.onlyonce.servlet.TenantResolver;
import dev.onlyonce.spring.Delivers;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.spring.Queued;
import dev.onlyonce.spring.Reconciles;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.DeliveryHandler;
import dev.onlyonce.sql.outbox.OutboxRow;
import dev.onlyonce.sql.steps.StepReconciler;
import dev.onlyonce.sql.steps.StepRunner;
import dev.onlyonce.store.Entry;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** An application with queued and stepped handlers, and a provider that does as the test says. */
@SampleApplication
@Import({WaysApp.Table.class, WaysApp.Orders.class, WaysApp.Bookings.class, WaysApp.Charges.class, WaysApp.Lookup.class
})
class WaysApp {
    /** How often handlers have run. */
    final AtomicInteger runs = new AtomicInteger();
    /** How often the provider was called. */
    final AtomicInteger calls = new AtomicInteger();
    /** Whether the provider can be reached. */
    volatile boolean reachable = true;
    /** Whether the provider's answer is lost. */
    volatile boolean losing;

    @Bean
    TenantResolver tenants() {
        return request -> request.getHeader("X-Tenant");
    }

    /** Refuses after the handler has returned, as a JPA provider does that sends its writes then. */
    @Bean
    WebMvcConfigurer refusals() {
        return new WebMvcConfigurer() {
            @Override
            public void addInterceptors(InterceptorRegistry registry) {
                registry.addInterceptor(new HandlerInterceptor() {
                    @Override
                    public void postHandle(
                            HttpServletRequest request,
                            HttpServletResponse response,
                            Object handler,
                            @Nullable ModelAndView view) {
                        if (request.getHeader("X-Conflict") != null) {
                            throw new ResponseStatusException(HttpStatus.CONFLICT, "it is there already");
                        }
                    }
                });
            }
        };
    }

    /** What a client orders. */
    record Order(String id, long amount) {}

    @Component
    static class Table {
        private final JdbcTemplate jdbc;

        Table(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
            jdbc.execute("CREATE TABLE IF NOT EXISTS ordered (id VARCHAR(100) PRIMARY KEY, state VARCHAR(20))");
        }

        void insert(String id) {
            jdbc.update("INSERT INTO ordered (id, state) VALUES (?, 'accepted')", id);
        }

        String state(String id) {
            return jdbc.queryForList("SELECT state FROM ordered WHERE id = ?", String.class, id).stream()
                    .findFirst()
                    .orElse("absent");
        }
    }

    @RestController
    static class Orders {
        private final WaysApp app;
        private final Table table;

        Orders(WaysApp app, Table table) {
            this.app = app;
            this.table = table;
        }

        @PostMapping("/queued")
        @Idempotent(way = Way.QUEUED, topic = "charge")
        Queued queued(@RequestBody Order order) {
            app.runs.incrementAndGet();
            table.insert(order.id());
            if (order.amount() < 0) {
                throw new ResponseStatusException(HttpStatus.UNPROCESSABLE_CONTENT, "less than nothing");
            }
            return Queued.of(order).location("/orders/" + order.id());
        }

        @PostMapping("/stepped")
        @Idempotent(way = Way.STEPPED)
        ResponseEntity<String> stepped(@RequestBody Order order, StepRunner steps) throws SQLException {
            app.runs.incrementAndGet();
            if (order.amount() < 0) {
                throw new ResponseStatusException(HttpStatus.UNPROCESSABLE_CONTENT, "less than nothing");
            }
            steps.local("write", Codec.text(), connection -> insert(connection, order.id()));
            String charged = steps.effect("charge", Codec.text(), app::charge);
            return ResponseEntity.status(201).body(charged);
        }

        private static String insert(Connection connection, String id) throws SQLException {
            try (PreparedStatement insert =
                    connection.prepareStatement("INSERT INTO ordered (id, state) VALUES (?, 'written')")) {
                insert.setString(1, id);
                insert.executeUpdate();
                return id;
            }
        }
    }

    @Component
    static class Bookings {
        private final WaysApp app;

        Bookings(WaysApp app) {
            this.app = app;
        }

        @Idempotent(key = "#id", way = Way.STEPPED)
        public String book(String id, StepRunner steps) {
            app.runs.incrementAndGet();
            return steps.effect("charge", Codec.text(), app::charge);
        }
    }

    String charge(String downstreamKey) {
        if (!reachable) {
            throw new NotExecuted("not reached");
        }
        int call = calls.incrementAndGet();
        if (losing) {
            throw new IllegalStateException("the answer was lost");
        }
        return "charge " + call;
    }

    @Component
    @Delivers("charge")
    static class Charges implements DeliveryHandler {
        private final WaysApp app;

        Charges(WaysApp app) {
            this.app = app;
        }

        @Override
        public Delivery deliver(OutboxRow row) {
            String charged = app.charge(row.downstreamKey());
            Headers text = Headers.of("Content-Type", "text/plain");
            HttpAnswer answer = new HttpAnswer(201, text, charged.getBytes(StandardCharsets.UTF_8));
            return new Delivery.Delivered(charged, StoredResponse.of(answer).encode());
        }

        @Override
        public void settled(Connection transaction, OutboxRow row, Delivery delivery) throws SQLException {
            try (PreparedStatement update =
                    transaction.prepareStatement("UPDATE ordered SET state = 'charged' WHERE id = ?")) {
                update.setString(1, row.key().value());
                update.executeUpdate();
            }
        }
    }

    @Component
    @Reconciles("POST /stepped")
    static class Lookup implements StepReconciler {
        @Override
        public Reconciler.Finding reconcile(Entry unknown, String step, String downstreamKey) {
            return new Reconciler.Finding.Found(("found " + step).getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public Duration absentAfter() {
            return Duration.ZERO;
        }
    }
}
