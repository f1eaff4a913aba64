package dev.onlyonce.spring.listeners;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Event.Consumed.End;
import dev.onlyonce.testservers.PostgresServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;

/** What {@code @Idempotent} does on a listener, whichever broker calls it. One application, and bodies of its own for each test. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ListenersContract {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    ConfigurableApplicationContext context;
    Books books;

    /** The application, with a database. */
    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class App {
        @Bean
        DataSource dataSource() {
            HikariDataSource source = new HikariDataSource();
            source.setJdbcUrl(PostgresServer.shared().createDatabase());
            source.setMaximumPoolSize(8);
            return source;
        }

        @Bean
        PlatformTransactionManager manager(DataSource source) {
            return new DataSourceTransactionManager(source);
        }

        @Bean
        Books books(DataSource source) {
            return new Books(source);
        }
    }

    /** The broker's part of the application: {@code charge} is transactional, {@code ship} is leased. */
    abstract Class<?> listeners();

    /** Starts the broker if need be, makes topics; returns what the application is to know. */
    abstract Map<String, Object> properties() throws Exception;

    /** Sends to the topic {@code charge} or {@code ship}; without an id if that is null. */
    abstract void send(String topic, String id, String body) throws Exception;

    /** The bodies of all dead letters so far. */
    abstract List<String> dead() throws Exception;

    /** The name of a topic in events. */
    abstract String name(String topic);

    /** The consumer group in events. */
    abstract String group(String topic);

    @BeforeAll
    void start() throws Exception {
        context = new SpringApplicationBuilder(App.class, listeners())
                .web(WebApplicationType.NONE)
                .properties(properties())
                .properties("onlyonce.messages.handler-max=2s")
                .run();
        books = context.getBean(Books.class);
    }

    @AfterAll
    void stop() throws Exception {
        if (context != null) {
            context.close();
        }
    }

    static void until(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("this did not happen within " + PATIENCE + ": " + what);
            }
            LockSupport.parkNanos(20_000_000);
        }
    }

    private boolean isDead(String body) {
        try {
            return dead().contains(body);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    @DisplayName("N4 a transactional listener applies each message once, and is not called for a repeated one")
    void once() throws Exception {
        long repeated = books.count(End.REPEATED, name("charge"));
        for (int i = 0; i < 20; i++) {
            send("charge", "once-" + i, "once-" + i);
            send("charge", "once-" + i, "once-" + i);
        }
        until("all came twice", () -> books.count(End.REPEATED, name("charge")) >= repeated + 20);
        assertThat(books.effects("once-")).hasSize(20).doesNotHaveDuplicates();
        assertThat(books.calls("once-")).hasSize(20);
        assertThat(books.events)
                .filteredOn(event -> event.end() == End.APPLIED && event.topic().equals(name("charge")))
                .isNotEmpty()
                .allMatch(event -> event.group().equals(group("charge")));
    }

    @Test
    @DisplayName("N4 a listener that fails is called again, and its effect is there once")
    void fails() throws Exception {
        books.fail("fails", 2);
        send("charge", UUID.randomUUID().toString(), "fails");
        until("it is applied", () -> books.effects("fails").size() == 1);
        assertThat(books.calls("fails")).hasSize(3);
    }

    @Test
    @DisplayName("N4 a known id with another body becomes a dead letter, and the listener is not called")
    void mismatch() throws Exception {
        send("charge", "same", "first");
        until("the first is applied", () -> books.effects("first").size() == 1);
        send("charge", "same", "second");
        send("charge", "next", "third");
        until("the second is dead", () -> isDead("second"));
        until("the third is applied", () -> books.effects("third").size() == 1);
        assertThat(books.calls("second")).isEmpty();
        assertThat(books.events).anyMatch(event -> "mismatch".equals(event.reason()));
    }

    @Test
    @DisplayName("N4 a message without an id, or one that the listener rejects, becomes a dead letter")
    void unusable() throws Exception {
        send("charge", null, "nameless");
        send("charge", "rejected-id", "rejected");
        send("charge", "usable-id", "usable");
        until("both are dead", () -> isDead("nameless") && isDead("rejected"));
        until("the other is applied", () -> books.effects("usable").size() == 1);
        assertThat(books.calls("nameless")).isEmpty();
        assertThat(books.effects("rejected")).isEmpty();
        assertThat(books.events).anyMatch(event -> "missing_id".equals(event.reason()));
    }

    @Test
    @DisplayName(
            "N4 a leased listener runs at most once; an unknown outcome blocks nobody, and a proven failure is tried"
                    + " again")
    void leased() throws Exception {
        books.fail("busy", 1);
        send("ship", "busy-id", "busy");
        send("ship", "unknown-id", "unknown");
        send("ship", "fine-id", "fine");
        send("ship", "fine-id", "fine");
        until("the last is called", () -> books.calls("fine").size() == 1);
        until("the first is called again", () -> books.calls("busy").size() == 2);
        until("the unknown is dead", () -> isDead("unknown"));
        assertThat(books.events).anyMatch(event -> "outcome_unknown".equals(event.reason()));
        assertThat(books.calls("unknown")).hasSize(1);
        assertThat(books.calls("fine")).hasSize(1);
    }

    @Test
    @DisplayName("N7 a listener that hangs is interrupted, its message ends, and those behind it are applied")
    void hangs() throws Exception {
        for (String topic : List.of("charge", "ship")) {
            String body = "hangs-" + topic;
            send(topic, body, body);
            send(topic, "after-" + body, "after-" + body);
            until("it is interrupted", () -> books.interrupts.get() > 0);
            HealthIndicator health = context.getBean("onlyonceMessagesHealthIndicator", HealthIndicator.class);
            until(
                    "health says so",
                    () -> !Map.of().equals(health.health().getDetails().get("hung")));
            books.letGo.countDown();
            until("it is dead", () -> isDead(body));
            until("the next is called", () -> books.calls("after-" + body).size() == 1);
            assertThat(books.count(End.HUNG, name(topic))).isPositive();
            until(
                    "health is well",
                    () -> Map.of().equals(health.health().getDetails().get("hung")));
            books.interrupts.set(0);
            books.letGo = new CountDownLatch(1);
        }
        assertThat(books.effects("hangs-")).isEmpty();
        assertThat(books.calls("hangs-ship")).hasSize(1);
    }
}
