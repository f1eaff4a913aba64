package dev.onlyonce.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Way;
import dev.onlyonce.spring.methods.OnlyonceMethodsAutoConfiguration;
import dev.onlyonce.spring.operations.ChosenWay;
import dev.onlyonce.spring.store.OnlyonceAutoConfiguration;
import dev.onlyonce.spring.transactions.OnlyonceTransactionsAutoConfiguration;
import dev.onlyonce.spring.web.WebProtection;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PatchMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

@DisplayName("Annotations at start-up")
class AnnotationStartUpTest extends StartUp {
    @RestController
    static class Shop {
        @PostMapping("/orders")
        @Idempotent
        void order() {}

        @PostMapping("/refunds")
        void refund() {}

        @PatchMapping("/orders/{id}")
        void change() {}

        @PostMapping("/search")
        @Unprotected("it only reads")
        void search() {}

        @GetMapping("/orders")
        void list() {}
    }

    @RestController
    static class Streaming {
        @PostMapping("/stream")
        @Idempotent
        SseEmitter stream() {
            return new SseEmitter();
        }
    }

    @RestController
    static class StreamingByType {
        @PostMapping(path = "/stream", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        @Idempotent
        String stream() {
            return "";
        }
    }

    @RestController
    static class KeyOnHandler {
        @PostMapping("/orders")
        @Idempotent(key = "#id")
        void order(String id) {}
    }

    @RestController
    static class AskedForTransaction {
        @PostMapping("/orders")
        @Idempotent(way = Way.TRANSACTIONAL)
        void order() {}
    }

    @RestController
    static class SameName {
        @PostMapping("/a")
        @Idempotent(operation = "one")
        void a() {}

        @PostMapping("/b")
        @Idempotent(operation = "one")
        void b() {}
    }

    @RestController
    static class StreamingInEntity {
        @PostMapping("/stream")
        @Idempotent
        ResponseEntity<SseEmitter> stream() {
            return ResponseEntity.ok(new SseEmitter());
        }
    }

    @RestController
    static class TransactionOfItsOwn {
        @PostMapping("/orders")
        @Idempotent(way = Way.TRANSACTIONAL)
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        void order() {}
    }

    @RestController
    static class ReadOnly {
        @PostMapping("/orders")
        @Idempotent
        @Transactional(readOnly = true)
        void order() {}
    }

    @RestController
    static class ReadOnlyOnDemand {
        @PostMapping("/orders")
        @Idempotent(way = Way.TRANSACTIONAL)
        @Transactional(readOnly = true)
        void order() {}
    }

    static class FinalMethod {
        @Idempotent(key = "#id")
        public final void pay(String id) {}
    }

    static class OneOfThemFinal {
        @Idempotent(key = "#id")
        public void accept(String id) {}

        @Idempotent(key = "#id")
        public final void pay(String id) {}

        @Idempotent(key = "#id")
        public void refuse(String id) {}
    }

    static class NoExpression {
        @Idempotent(key = "#order..id")
        public void pay(String order) {}
    }

    static class NoDuration {
        @Idempotent(key = "#id", lease = "soon")
        public void pay(String id) {}
    }

    @RestController
    static class NoHandler {
        @Idempotent(key = "#id")
        public void pay(String id) {}
    }

    static class FutureMethod {
        @Idempotent(key = "#id")
        public CompletableFuture<String> pay(String id) {
            return CompletableFuture.completedFuture(id);
        }
    }

    @Idempotent(key = "#id")
    static class AnnotatedClass {
        public void pay(String id) {}
    }

    static class Overloaded {
        @Idempotent(key = "#id")
        public void pay(String id) {}

        @Idempotent(key = "#id")
        public void pay(long id) {}
    }

    static class TheSameName {
        @Idempotent(key = "#id", operation = "pay")
        public void other(String id) {}
    }

    static class MethodWithoutKey {
        @Idempotent
        public void pay() {}
    }

    static class OneName {
        @Idempotent(key = "#id", operation = "pay")
        public void one(String id) {}
    }

    @Test
    @DisplayName(
            "W7 every POST and PATCH handler that is not protected is listed, and coverage=required refuses to start")
    void coverage() {
        inMemory.withBean(Shop.class).run(context -> {
            Coverage coverage =
                    context.getBean(WebProtection.class).operations().coverage();
            assertThat(coverage.protectedHandlers()).containsExactly("POST /orders");
            assertThat(coverage.unprotectedHandlers()).containsExactlyInAnyOrder("POST /refunds", "PATCH /orders/{id}");
            assertThat(coverage.exempt()).containsExactly("POST /search: it only reads");
        });
        refuses(
                inMemory.withBean(Shop.class).withPropertyValues("onlyonce.coverage=required"),
                "POST /refunds",
                "@Idempotent");
    }

    @Test
    @DisplayName("streaming handlers are refused rather than silently unprotected")
    void streaming() {
        refuses(inMemory.withBean(Streaming.class), "streams its response", "Remove @Idempotent");
        refuses(inMemory.withBean(StreamingByType.class), "streams its response", "Remove @Idempotent");
        refuses(inMemory.withBean(StreamingInEntity.class), "streams its response", "Remove @Idempotent");
    }

    @Test
    @DisplayName("annotations that cannot work are refused with what to change")
    void annotations() {
        refuses(inMemory.withBean(KeyOnHandler.class), "Idempotency-Key header", "Remove the key");
        refuses(inMemory.withBean(AskedForTransaction.class), "one transaction", "way = LEASED");
        refuses(inMemory.withBean(SameName.class), "two operations named one", "operation = ");
        refuses(inMemory.withBean(Overloaded.class), "both the operation \"Overloaded.pay\"", "operation = ");
        refuses(
                inMemory.withBean(OneName.class).withBean(TheSameName.class),
                "both the operation \"pay\"",
                "operation = ");
        inMemory.withBean("one", OneName.class)
                .withBean("two", OneName.class)
                .run(context -> assertThat(context).hasNotFailed());
        refuses(inMemory.withBean(MethodWithoutKey.class), "has no key", "key = \"#order.id\"");
        refuses(inMemory.withBean(FinalMethod.class), "no proxy can stand before", "ordinary method");
        refuses(inMemory.withBean(OneOfThemFinal.class), "OneOfThemFinal.pay", "ordinary method");
        refuses(inMemory.withBean(NoExpression.class), "\"#order..id\" is no expression", "#order.id");
        refuses(inMemory.withBean(NoDuration.class), "'soon' is not a valid duration", "@Idempotent");
        refuses(inMemory.withBean(NoHandler.class), "handles no requests", "a bean that is no controller");
        refuses(
                new WebApplicationContextRunner()
                        .withConfiguration(AutoConfigurations.of(
                                OnlyonceAutoConfiguration.class,
                                OnlyonceTransactionsAutoConfiguration.class,
                                OnlyonceMethodsAutoConfiguration.class))
                        .withUserConfiguration(InMemory.class)
                        .withBean("webHandler", Object.class)
                        .withBean(Shop.class),
                "Spring WebFlux",
                "Spring MVC");
        refuses(inMemory.withBean(FutureMethod.class), "returns before it has a result", "the value itself");
        refuses(inMemory.withBean(AnnotatedClass.class), "it is no controller", "on each of its methods");
        refuses(sql.withBean(TransactionOfItsOwn.class), "wants one of its own", "way = LEASED");
        refuses(sql.withBean(ReadOnlyOnDemand.class), "read-only", "Remove readOnly");
    }

    @Test
    @DisplayName("a handler with a read-only transaction is leased: no entry could be written in its transaction")
    void readOnly() {
        sql.withBean(ReadOnly.class).run(context -> {
            WebProtection.Handlers operations =
                    context.getBean(WebProtection.class).operations();
            assertThat(operations.all()).hasSize(1);
            assertThat(operations.plans().get("POST /orders").choice()).isEqualTo(ChosenWay.leased());
        });
    }
}
