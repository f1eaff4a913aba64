package dev.onlyonce.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.http.Operation;
import dev.onlyonce.spring.operations.UnknownSettingsAnalyzer;
import dev.onlyonce.spring.web.WebProtection;
import dev.onlyonce.store.Encryption;
import dev.onlyonce.testkit.ManualTime;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AliasFor;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

@DisplayName("Settings at start-up")
class SettingsStartUpTest extends StartUp {
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

    @ParameterizedTest
    @CsvSource({"all, 2", "exceptions, 0"})
    @DisplayName("S2 onlyonce.store.audit says whether the record of an ordinary life outlives its entry")
    void auditLevel(String level, int records, @TempDir Path own) {
        String file = own.resolve("entries.db").toString();
        runner.withPropertyValues("onlyonce.store.audit=" + level, "onlyonce.store.sqlite=" + file)
                .run(context -> {
                    Onlyonce once = context.getBean(Onlyonce.class);
                    Key key = Key.of("everybody", "POST /orders", "order-1");
                    once.execute(key, Fingerprint.of(new byte[0]), Codec.text(), claim -> "paid");
                    assertThat(once.operator().history(key)).hasSize(2);
                    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                            Statement statement = connection.createStatement()) {
                        statement.execute(
                                "UPDATE onlyonce_entry SET expires_at = 1, purge_at = 1, reap_at = 1 WHERE fingerprint_version > 0");
                    }
                    once.operator().purge();
                    assertThat(once.operator().history(key)).hasSize(records);
                });
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

    @Test
    @DisplayName("keys that cannot work are refused with what to change, and no message shows one")
    void encryption() {
        String key = "onlyonce.encryption.keys.";
        String right = "MDEyMzQ1Njc4OWFiY2RlZg==";
        sql.withPropertyValues("onlyonce.encryption.current=7", key + "7=" + right, key + "6=" + right)
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
        refuses(inMemory.withBean(AnnotationStartUpTest.Shop.class).withPropertyValues(property), wrong, "onlyonce.");
    }

    @ParameterizedTest
    @CsvSource({
        "onlyonce.coverrage=required,onlyonce.coverrage,onlyonce.coverage",
        "onlyonce.store.wait=2s,onlyonce.store.wait,onlyonce.store.wait-max",
        "onlyonce.stores.wait-max=2s,onlyonce.stores.wait-max,onlyonce.store",
        "onlyonce.operations.[POST /orders].server-error=unknown,onlyonce.operations[POST /orders].server-error,on-server-error"
    })
    @DisplayName("a setting that was misspelt is refused and named, with those that there are")
    void misspelt(String property, String named, String right) {
        inMemory.withBean(AnnotationStartUpTest.Shop.class)
                .withPropertyValues(property)
                .run(context -> {
                    FailureAnalysis analysis = new UnknownSettingsAnalyzer().analyze(context.getStartupFailure());
                    assertThat(analysis).as(property).isNotNull();
                    assertThat(Objects.requireNonNull(analysis).getDescription())
                            .contains(named + " (");
                    assertThat(analysis.getAction()).contains(right);
                });
    }

    @Test
    @DisplayName("settings of operations that are there are accepted, handlers and methods of beans")
    void operations() {
        inMemory.withBean(AnnotationStartUpTest.Shop.class)
                .withBean(AnnotationStartUpTest.OneName.class)
                .withPropertyValues("onlyonce.operations.[POST /orders].lease=5s", "onlyonce.operations.pay.lease=6s")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @ParameterizedTest
    @ValueSource(strings = {"server-errors", "serverErrors", "server_errors"})
    @DisplayName("an old name of a setting is refused with the new one, in any spelling")
    void renamed(String old) {
        inMemory.withBean(AnnotationStartUpTest.Shop.class)
                .withPropertyValues("onlyonce.operations.[POST /orders]." + old + "=unknown")
                .run(context -> {
                    FailureAnalysis analysis = new UnknownSettingsAnalyzer().analyze(context.getStartupFailure());
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
                        .doesNotHaveBean(WebProtection.class));
    }

    @Test
    @DisplayName(
            "a duplicate waits for the running request in development, by a profile, unless something else is said")
    void waitsInDevelopment() {
        assertThat(waits()).isZero();
        assertThat(waits("spring.profiles.active=production")).isZero();
        assertThat(waits("spring.profiles.active=dev")).isEqualTo(Duration.ofSeconds(2));
        assertThat(waits("spring.profiles.active=dev", "onlyonce.wait-max=0s")).isZero();
    }

    private Duration waits(String... settings) {
        AtomicReference<Duration> found = new AtomicReference<>();
        inMemory.withBean(Charged.class)
                .withPropertyValues(settings)
                .run(context -> found.set(context.getBean(Onlyonce.class)
                        .registry()
                        .ownPolicy("POST /charged")
                        .orElseThrow()
                        .waitMax()));
        return found.get();
    }

    /** What an application writes once and puts on many handlers. */
    @Target({ElementType.METHOD, ElementType.TYPE})
    @Retention(RetentionPolicy.RUNTIME)
    @Idempotent(profile = "strict", retention = "30d")
    @interface Payment {
        @AliasFor(annotation = Idempotent.class)
        String operation() default "";

        @AliasFor(annotation = Idempotent.class)
        String key() default "";
    }

    @RestController
    static class Charged {
        @Payment
        @PostMapping("/charged")
        void charge() {}

        @Payment(operation = "named")
        @PostMapping("/named")
        void named() {}
    }

    @RestController
    @Payment
    static class WholeClass {
        @PostMapping("/whole")
        void whole() {}
    }

    static class Ledger {
        @Payment(key = "#id")
        public String book(String id) {
            return id + System.nanoTime();
        }
    }

    @Test
    @DisplayName(
            "@Idempotent protects as a meta-annotation too: handlers, all handlers of a class, and methods of beans")
    void metaAnnotation() {
        inMemory.withBean(Charged.class)
                .withBean(WholeClass.class)
                .withBean(Ledger.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    WebProtection.Handlers handlers =
                            context.getBean(WebProtection.class).operations();
                    assertThat(handlers.all())
                            .extracting(Operation::name)
                            .containsExactlyInAnyOrder("POST /charged", "named", "POST /whole");
                    assertThat(handlers.all()).allSatisfy(operation -> {
                        assertThat(operation.profile().name()).isEqualTo("strict");
                        assertThat(operation.policy().terms().retention()).isEqualTo(Duration.ofDays(30));
                    });
                    Ledger ledger = context.getBean(Ledger.class);
                    assertThat(ledger.book("a")).isEqualTo(ledger.book("a"));
                    assertThat(context.getBean(Onlyonce.class).registry().ownPolicy("Ledger.book"))
                            .isPresent();
                });
    }
}
