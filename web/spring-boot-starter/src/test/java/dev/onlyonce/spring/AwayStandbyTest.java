package dev.onlyonce.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Codec;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.Webhook;
import dev.onlyonce.messages.MessageHeader;
import dev.onlyonce.messages.MessageId;
import dev.onlyonce.messages.ReceivedMessage;
import dev.onlyonce.spring.messages.CurrentMessage;
import dev.onlyonce.spring.messages.ListenerCalls;
import dev.onlyonce.spring.transactions.EntryTransactions;
import dev.onlyonce.spring.transactions.TransactionalWay;
import dev.onlyonce.spring.web.WebhookTransactions;
import dev.onlyonce.sql.inbox.Inbox;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.PostgresServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionDefinition;

@DisplayName("While the standby is away for which PostgreSQL's commits wait")
class AwayStandbyTest extends StartUp {
    private static final byte[] BODY = "body".getBytes(StandardCharsets.UTF_8);
    private static final String WAITERS = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    /** An effect has no result. */
    private static final Codec<Optional<Object>> NONE = Codec.of(none -> new byte[0], bytes -> Optional.empty());

    private static DatabaseServer server;

    @BeforeAll
    static void startServer() {
        server = PostgresServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @Configuration(proxyBeanMethods = false)
    static class OnServer {
        @Bean
        DataSource dataSource() {
            HikariDataSource source = new HikariDataSource();
            source.setJdbcUrl(server.jdbcUrl("postgres"));
            source.setMaximumPoolSize(4);
            return source;
        }

        @Bean
        PlatformTransactionManager manager(DataSource dataSource) {
            return new DataSourceTransactionManager(dataSource);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"listener", "webhook"})
    @DisplayName("D17 a message that comes again is not acknowledged: what was read of it may be undone by a failover")
    void repeated(String kind) {
        ExecutorService sender = Executors.newSingleThreadExecutor();
        AtomicInteger applied = new AtomicInteger();
        runner.withUserConfiguration(OnServer.class).run(context -> {
            JdbcTemplate jdbc = new JdbcTemplate(context.getBean(DataSource.class));
            Callable<Object> delivery =
                    kind.equals("listener") ? () -> listener(context, applied) : () -> webhook(context, applied);
            delivery.call();
            try {
                waitsForNobody(jdbc, true);
                Future<Object> again = sender.submit(delivery);
                while (count(jdbc) == 0 && !again.isDone()) {
                    LockSupport.parkNanos(1_000_000);
                }
                assertThat(again).as("it waits for the standby").isNotDone();
                jdbc.query("SELECT pg_cancel_backend(pid) " + WAITERS, row -> {});
                assertThatThrownBy(() -> again.get(60, TimeUnit.SECONDS))
                        .cause()
                        .isInstanceOf(StoreOutcomeUnknown.class);
            } finally {
                waitsForNobody(jdbc, false);
                sender.shutdownNow();
            }
            delivery.call();
            assertThat(applied).hasValue(1);
        });
    }

    private static int count(JdbcTemplate jdbc) {
        Integer count = jdbc.queryForObject("SELECT count(*) " + WAITERS, Integer.class);
        return count == null ? 0 : count;
    }

    private static void waitsForNobody(JdbcTemplate jdbc, boolean waits) {
        jdbc.execute("ALTER SYSTEM SET synchronous_standby_names = '" + (waits ? "nobody" : "") + "'");
        jdbc.execute("SELECT pg_reload_conf()");
        while (!(waits ? "nobody" : "")
                .equals(jdbc.queryForObject("SELECT current_setting('synchronous_standby_names')", String.class))) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static Object listener(ApplicationContext context, AtomicInteger applied) throws Exception {
        Onlyonce once = context.getBean(Onlyonce.class);
        TransactionalWay way = context.getBean(TransactionalWay.class);
        ReceivedMessage message = new ReceivedMessage("charge", "0-0", List.of(new MessageHeader("id", BODY)), BODY);
        CurrentMessage.set(new CurrentMessage.Delivered("group", "charge", () -> message));
        try {
            return new ListenerCalls(once, MessageId.header("id"), Duration.ofMinutes(1))
                    .call(
                            "charge",
                            asked -> way.execute(
                                    new DefaultTransactionDefinition(),
                                    once.registry().policy("charge"),
                                    asked,
                                    NONE,
                                    () -> {
                                        applied.incrementAndGet();
                                        return Optional.empty();
                                    }));
        } finally {
            CurrentMessage.clear();
        }
    }

    private static Object webhook(ApplicationContext context, AtomicInteger applied) throws Exception {
        Inbox inbox = Inbox.of(context.getBean(Onlyonce.class));
        return new WebhookTransactions(context.getBean(EntryTransactions.class), inbox)
                .handler(webhook -> applied.incrementAndGet())
                .apply(new Webhook("stripe", "evt_1", Headers.none(), BODY, Fingerprint.of(BODY)));
    }
}
