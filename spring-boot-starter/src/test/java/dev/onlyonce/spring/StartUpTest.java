package dev.onlyonce.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Way;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Encryption;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import dev.onlyonce.testkit.ManualTime;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PatchMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

@DisplayName("At start-up")
class StartUpTest {
    @TempDir
    static Path folder;

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    WebMvcAutoConfiguration.class,
                    OnlyonceAutoConfiguration.class,
                    OnlyonceTransactionsAutoConfiguration.class,
                    OnlyonceMethodsAutoConfiguration.class,
                    OnlyonceWebAutoConfiguration.class))
            .withPropertyValues("onlyonce.anonymous-tenant=everybody");

    private final WebApplicationContextRunner inMemory = runner.withUserConfiguration(InMemory.class);

    @Configuration(proxyBeanMethods = false)
    static class InMemory {
        @Bean
        Store store(Time time) {
            return new MemoryStore(time);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class AtAnyTime {
        @Bean
        ManualTime time() {
            return new ManualTime();
        }
    }

    @Test
    @DisplayName("S2 onlyonce.store.audit-retention says how long audit records are kept")
    void auditRetention() {
        inMemory.withUserConfiguration(AtAnyTime.class)
                .withPropertyValues("onlyonce.store.audit-retention=2h")
                .run(context -> {
                    Onlyonce once = context.getBean(Onlyonce.class);
                    Key key = Key.of("everybody", "POST /orders", "order-1");
                    once.execute(key, Fingerprint.of(new byte[0]), Codec.text(), claim -> "paid");
                    context.getBean(ManualTime.class).advance(Duration.ofHours(1));
                    assertThat(once.operator().history(key)).hasSize(2);
                    context.getBean(ManualTime.class).advance(Duration.ofMinutes(62));
                    assertThat(once.operator().history(key)).isEmpty();
                });
    }

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

    static class Overloaded {
        @Idempotent(key = "#id")
        public void pay(String id) {}

        @Idempotent(key = "#id")
        public void pay(long id) {}
    }

    static class OneName {
        @Idempotent(key = "#id", operation = "pay")
        public void one(String id) {}
    }

    static class TheSameName {
        @Idempotent(key = "#id", operation = "pay")
        public void other(String id) {}
    }

    static class MethodWithoutKey {
        @Idempotent
        public void pay() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoDataSources {
        @Bean
        DataSource one() {
            return new DriverManagerDataSource("jdbc:sqlite:one.db");
        }

        @Bean
        DataSource two() {
            return new DriverManagerDataSource("jdbc:sqlite:two.db");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class NoSuchDatabase {
        @Bean
        DataSource none() {
            return new DriverManagerDataSource("jdbc:postgresql://localhost:1/none");
        }
    }

    /** What the application prints instead of starting: what is wrong, and what to change. */
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
    @DisplayName(
            "W7 every POST and PATCH handler that is not protected is listed, and coverage=required refuses to start")
    void coverage() {
        inMemory.withBean(Shop.class).run(context -> {
            Coverage coverage = context.getBean(OnlyonceWeb.class).operations().coverage();
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
                                OnlyonceAutoConfiguration.class, OnlyonceMethodsAutoConfiguration.class))
                        .withUserConfiguration(InMemory.class)
                        .withBean("webHandler", Object.class)
                        .withBean(Shop.class),
                "Spring WebFlux",
                "Spring MVC");
        refuses(inMemory.withBean(FutureMethod.class), "returns before it has a result", "the value itself");
        refuses(inMemory.withBean(AnnotatedClass.class), "it is no controller", "on each of its methods");
        refuses(
                runner.withUserConfiguration(OneDatabase.class).withBean(TransactionOfItsOwn.class),
                "wants one of its own",
                "way = LEASED");
        refuses(
                runner.withUserConfiguration(OneDatabase.class).withBean(ReadOnlyOnDemand.class),
                "read-only",
                "Remove readOnly");
    }

    @Test
    @DisplayName("a handler with a read-only transaction is leased: no entry could be written in its transaction")
    void readOnly() {
        runner.withUserConfiguration(OneDatabase.class).withBean(ReadOnly.class).run(context -> {
            HandlerOperations operations = context.getBean(OnlyonceWeb.class).operations();
            assertThat(operations.all()).hasSize(1);
            assertThat(operations.plans().get("POST /orders").choice()).isEqualTo(WayChoice.Choice.leased());
        });
    }

    @Test
    @DisplayName("keys that cannot work are refused with what to change, and no message shows one")
    void encryption() {
        String key = "onlyonce.encryption.keys.";
        String right = "MDEyMzQ1Njc4OWFiY2RlZg==";
        runner.withUserConfiguration(OneDatabase.class)
                .withPropertyValues("onlyonce.encryption.current=7", key + "7=" + right, key + "6=" + right)
                .run(context -> assertThat(context).hasSingleBean(Encryption.class));
        refuses(runner.withPropertyValues(key + "1=" + right), "current is missing", "onlyonce.encryption.current");
        refuses(
                runner.withPropertyValues("onlyonce.encryption.current=2", key + "1=" + right),
                "is 2, which is none of the keys [1]",
                "onlyonce.encryption.current");
        refuses(
                runner.withPropertyValues("onlyonce.encryption.current=1", key + "1=c2hvcnQ="),
                "16 or 32 bytes, but key 1 has 5",
                "openssl rand");
        refuses(
                runner.withPropertyValues("onlyonce.encryption.current=1", key + "1=not base64!"),
                "keys.1 is not Base64",
                "openssl rand");
        refuses(
                inMemory.withPropertyValues("onlyonce.encryption.current=1", key + "1=" + right),
                "the application's own Store does not use them",
                "SqlStore.builder");
    }

    @ParameterizedTest
    @CsvSource({
        "onlyonce.lease=1ms,lease must be between",
        "onlyonce.profile=lax,no profile \"lax\"",
        "onlyonce.retention=-1s,retention must be between",
        "onlyonce.operations.[POST /orders].key-format=short,key-format must be",
        "onlyonce.operations.[POST /orders].wait-max=1h,waitMax must be",
        "onlyonce.limits.live-max=-1,limits must not be negative",
        "onlyonce.store.sweep-every=0s,sweepEvery must be positive",
        "onlyonce.operations.[POST /order].lease=5s,'settings for [POST /order], but there is no such operation'",
        "onlyonce.operations.POST/orders.lease=5s,but there is no such operation"
    })
    @DisplayName("settings that cannot work are refused with what to change")
    void settings(String property, String wrong) {
        refuses(inMemory.withBean(Shop.class).withPropertyValues(property), wrong, "onlyonce.");
    }

    @ParameterizedTest
    @CsvSource({
        "onlyonce.coverrage=required,onlyonce.coverrage",
        "onlyonce.operations.[POST /orders].server-error=unknown,onlyonce.operations[POST /orders].server-error"
    })
    @DisplayName("a setting that was misspelt is refused and named")
    void misspelt(String property, String named) {
        inMemory.withBean(Shop.class)
                .withPropertyValues(property)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(UnboundConfigurationPropertiesException.class)
                        .hasMessageContaining(named));
    }

    @Test
    @DisplayName("settings of operations that are there are accepted, handlers and methods of beans")
    void operations() {
        inMemory.withBean(Shop.class)
                .withBean(OneName.class)
                .withPropertyValues("onlyonce.operations.[POST /orders].lease=5s", "onlyonce.operations.pay.lease=6s")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @ParameterizedTest
    @ValueSource(strings = {"server-errors", "serverErrors", "server_errors"})
    @DisplayName("an old name of a setting is refused with the new one, in any spelling")
    void renamed(String old) {
        inMemory.withBean(Shop.class)
                .withPropertyValues("onlyonce.operations.[POST /orders]." + old + "=unknown")
                .run(context -> {
                    FailureAnalysis analysis = new RenamedSettingsAnalyzer().analyze(context.getStartupFailure());
                    assertThat(analysis).as(old).isNotNull();
                    assertThat(Objects.requireNonNull(analysis).getDescription())
                            .contains("mean on-server-error?");
                });
    }

    @Test
    @DisplayName("a database that is not there, and a choice that is not made, are refused with what to change")
    void stores() {
        refuses(runner.withUserConfiguration(TwoDataSources.class), "several DataSources", "@Primary");
        refuses(runner.withUserConfiguration(NoSuchDatabase.class), "cannot be kept in", "can be reached");
    }

    @Test
    @DisplayName("nothing is configured if it is switched off")
    void off() {
        runner.withPropertyValues("onlyonce.enabled=false")
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .doesNotHaveBean(Onlyonce.class)
                        .doesNotHaveBean(OnlyonceWeb.class));
    }
}
