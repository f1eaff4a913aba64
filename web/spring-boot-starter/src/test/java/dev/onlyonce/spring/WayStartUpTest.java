package dev.onlyonce.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Key;
import dev.onlyonce.Way;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.DeliveryHandler;
import dev.onlyonce.sql.outbox.OutboxRow;
import dev.onlyonce.sql.steps.StepRunner;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.Lifecycle;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

@DisplayName("At start-up, a way that cannot work")
class WayStartUpTest extends StartUp {
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
        refuses(inMemory.withBean(QueuedOrders.class), "not in the application's database", "DataSource");
        refuses(inMemory.withBean(Orders.class), "not in an SQL database", "DataSource");
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
            assertThat(context.getBean("onlyonceOutboxLifecycle", Lifecycle.class)
                            .isRunning())
                    .isTrue();
        });
    }

    @Test
    @DisplayName("is refused with what to change: a stepped handler")
    void stepped() {
        refuses(sql.withBean(WithoutSteps.class), "no parameter of type StepRunner", "Add a parameter");
        refuses(sql.withBean(SteppedInTransaction.class), "@Transactional as a whole", "Remove @Transactional");
        refuses(inMemory.withBean(SteppedOrders.class), "not in an SQL database", "way = LEASED");
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
