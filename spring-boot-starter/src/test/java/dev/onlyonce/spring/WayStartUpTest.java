package dev.onlyonce.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Key;
import dev.onlyonce.Way;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.DeliveryHandler;
import dev.onlyonce.sql.outbox.OutboxRow;
import dev.onlyonce.sql.steps.StepRunner;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import java.nio.file.Path;
import java.util.Objects;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

@DisplayName("At start-up, a way that cannot work")
class WayStartUpTest {
    @TempDir
    static Path folder;

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    WebMvcAutoConfiguration.class,
                    OnlyonceAutoConfiguration.class,
                    OnlyonceTransactionsAutoConfiguration.class,
                    OnlyonceOutboxAutoConfiguration.class,
                    OnlyonceMethodsAutoConfiguration.class,
                    OnlyonceWebAutoConfiguration.class,
                    OnlyonceDisabledAutoConfiguration.class))
            .withPropertyValues("onlyonce.anonymous-tenant=everybody");

    private final WebApplicationContextRunner sql = runner.withUserConfiguration(OneDatabase.class);

    @Configuration(proxyBeanMethods = false)
    static class InMemory {
        @Bean
        Store store(Time time) {
            return new MemoryStore(time);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OneDatabase {
        @Bean
        DataSource dataSource() {
            return new DriverManagerDataSource("jdbc:sqlite:" + folder.resolve("entries.db") + "?synchronous=FULL");
        }

        @Bean
        PlatformTransactionManager manager(DataSource dataSource) {
            return new DataSourceTransactionManager(dataSource);
        }
    }

    @RestController
    static class QueuedOrders {
        @PostMapping("/orders")
        @Idempotent(way = Way.QUEUED)
        Queued order() {
            return Queued.of("order");
        }
    }

    @RestController
    static class QueuesNothing {
        @PostMapping("/orders")
        @Idempotent(way = Way.QUEUED)
        String order() {
            return "order";
        }
    }

    @RestController
    static class QueuedWithoutWay {
        @PostMapping("/orders")
        @Idempotent
        Queued order() {
            return Queued.of("order");
        }
    }

    @RestController
    static class WithoutSteps {
        @PostMapping("/orders")
        @Idempotent(way = Way.STEPPED)
        void order() {}
    }

    @RestController
    static class SteppedOrders {
        @PostMapping("/orders")
        @Idempotent(way = Way.STEPPED)
        void order(StepRunner steps) {}
    }

    @RestController
    static class SteppedInTransaction {
        @PostMapping("/orders")
        @Idempotent(way = Way.STEPPED)
        @Transactional
        void order(StepRunner steps) {}
    }

    @RestController
    static class TwoWays {
        @PostMapping("/orders")
        @Idempotent(way = {Way.LEASED, Way.STEPPED})
        void order(StepRunner steps) {}
    }

    @RestController
    static class LeasedWithKey {
        @PostMapping("/orders")
        @Idempotent(way = Way.LEASED)
        void order(Key key) {}
    }

    @RestController
    static class TransactionalWithKey {
        @PostMapping("/orders")
        @Idempotent(way = Way.TRANSACTIONAL)
        void order(Key key) {}
    }

    static class QueuedMethod {
        @Idempotent(key = "#id", way = Way.QUEUED)
        public String order(String id) {
            return id;
        }
    }

    static class SameOperation {
        @Idempotent(key = "#id", operation = "POST /orders", way = Way.LEASED)
        public String order(String id) {
            return id;
        }
    }

    static class NoTopic implements DeliveryHandler {
        @Override
        public Delivery deliver(OutboxRow row) {
            return new Delivery.NotExecuted("a test");
        }
    }

    @Delivers("POST /orders")
    static class Orders extends NoTopic {}

    private static void refuses(WebApplicationContextRunner runner, String wrong, String change) {
        runner.run(context -> {
            assertThat(context).hasFailed();
            FailureAnalysis analysis = new InvalidSettingsAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis).as("analysed: " + context.getStartupFailure()).isNotNull();
            assertThat(Objects.requireNonNull(analysis).getDescription()).contains(wrong);
            assertThat(analysis.getAction()).contains(change);
        });
    }

    @Test
    @DisplayName("is refused with what to change: a queued handler")
    void queued() {
        refuses(sql.withBean(QueuedOrders.class), "no bean delivers \"POST /orders\"", "@Delivers(\"POST /orders\")");
        refuses(sql.withBean(QueuesNothing.class), "does not return what to queue", "Queued.of");
        refuses(sql.withBean(QueuedWithoutWay.class), "nobody would make the call", "way = Way.QUEUED");
        refuses(sql.withBean(QueuedMethod.class), "no handler of requests", "Outbox.accept");
        refuses(sql.withBean(QueuedOrders.class).withBean(NoTopic.class), "for which topics", "@Delivers");
        refuses(
                sql.withBean("one", Orders.class).withBean("two", Orders.class),
                "both deliver POST /orders",
                "one @Delivers only");
        refuses(
                runner.withUserConfiguration(InMemory.class).withBean(QueuedOrders.class),
                "not in the application's database",
                "DataSource");
        refuses(
                runner.withUserConfiguration(InMemory.class).withBean(Orders.class),
                "not in an SQL database",
                "DataSource");
        sql.withBean(QueuedOrders.class)
                .withBean(Orders.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    @DisplayName("The outbox of a stopped application starts again with it")
    void restarted() {
        sql.withBean(QueuedOrders.class).withBean(Orders.class).run(context -> {
            context.stop();
            assertThat(context.isRunning()).isFalse();
            context.start();
            assertThat(context.getBean(OutboxLifecycle.class).isRunning()).isTrue();
        });
    }

    @Test
    @DisplayName("is refused with what to change: a stepped handler")
    void stepped() {
        refuses(sql.withBean(WithoutSteps.class), "no parameter of type StepRunner", "Add a parameter");
        refuses(sql.withBean(SteppedInTransaction.class), "@Transactional as a whole", "Remove @Transactional");
        refuses(
                runner.withUserConfiguration(InMemory.class).withBean(SteppedOrders.class),
                "not in an SQL database",
                "way = LEASED");
        sql.withBean(SteppedOrders.class).run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    @DisplayName(
            "is refused with what to change: a handler that needs its key, and an operation that does not require one")
    void optionalKey() {
        WebApplicationContextRunner optional = sql.withPropertyValues("onlyonce.profile=stripe");
        String change = "onlyonce.operations.[POST /orders].key-required=true";
        refuses(optional.withBean(QueuedOrders.class).withBean(Orders.class), "requests without one pass", change);
        refuses(optional.withBean(SteppedOrders.class), "requests without one pass", change);
        refuses(optional.withBean(TransactionalWithKey.class), "requests without one pass", change);
        optional.withBean(SteppedOrders.class)
                .withPropertyValues(change)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    @DisplayName("is refused with what to change: a queued or stepped handler where Onlyonce is disabled")
    void disabled() {
        WebApplicationContextRunner disabled = sql.withPropertyValues("onlyonce.enabled=false");
        refuses(
                disabled.withBean(QueuedOrders.class).withBean(Orders.class),
                "[QueuedOrders.order]",
                "Remove onlyonce.enabled=false");
        refuses(disabled.withBean(SteppedOrders.class), "[SteppedOrders.order]", "Remove onlyonce.enabled=false");
    }

    @Test
    @DisplayName("is refused with what to change: an operation with two ways")
    void twoWays() {
        refuses(sql.withBean(TwoWays.class), "with 2 ways, but an operation has one", "Leave one");
        refuses(sql.withBean(LeasedWithKey.class), "parameter of type Key", "Idempotency-Key");
        refuses(
                sql.withBean(SteppedOrders.class).withBean(SameOperation.class),
                "\"POST /orders\" is declared with two ways",
                "operation = ");
    }
}
