package dev.onlyonce.spring.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.Policy;
import dev.onlyonce.Reconciler;
import dev.onlyonce.Way;
import dev.onlyonce.http.Operation;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.spring.Reconciles;
import dev.onlyonce.spring.methods.OnlyonceMethodsAutoConfiguration;
import dev.onlyonce.spring.operations.Development;
import dev.onlyonce.spring.operations.InvalidSettingsAnalyzer;
import dev.onlyonce.spring.transactions.Downgrades;
import dev.onlyonce.spring.transactions.OnlyonceTransactionsAutoConfiguration;
import dev.onlyonce.spring.web.OnlyonceWebAutoConfiguration;
import dev.onlyonce.spring.web.WebProtection;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

@DisplayName("What an application is told at start-up")
class WarningsTest {
    private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    WebMvcAutoConfiguration.class,
                    OnlyonceAutoConfiguration.class,
                    OnlyonceTransactionsAutoConfiguration.class,
                    OnlyonceMethodsAutoConfiguration.class,
                    OnlyonceWebAutoConfiguration.class))
            .withPropertyValues("onlyonce.anonymous-tenant=everybody", "management.endpoints.web.exposure.include=*");

    @Configuration(proxyBeanMethods = false)
    static class InMemory {
        @Bean
        Store store(Time time) {
            return new MemoryStore(time);
        }
    }

    @RestController
    @Idempotent
    static class Shop {
        @Transactional
        @PostMapping("/orders")
        void order() {}

        @Idempotent(way = Way.LEASED)
        @Transactional
        @PostMapping("/leased")
        void leased() {}

        @Transactional(readOnly = true)
        @PostMapping("/read")
        void read() {}
    }

    static class Bookings {
        @Idempotent(key = "#id")
        @Transactional
        public void book(String id) {}
    }

    static class Unassigned implements Reconciler {
        @Override
        public Finding reconcile(dev.onlyonce.store.Entry unknown) {
            return new Finding.CannotTell("nobody asks");
        }
    }

    @Reconciles("POST /orders")
    static class Assigned extends Unassigned {}

    @Configuration(proxyBeanMethods = false)
    static class OwnEngine {
        @Bean
        Onlyonce once(Store store, Time time) {
            return Onlyonce.builder(store)
                    .time(time)
                    .operation(
                            "POST /refunds",
                            Policy.builder()
                                    .retention(Duration.ofDays(30))
                                    .tombstone(Duration.ofDays(365))
                                    .build())
                    .build();
        }

        /** With terms that nobody executes. */
        @Bean
        Operation refunds() {
            return Operation.builder("POST", "/refunds").build();
        }
    }

    @Test
    @DisplayName("W7 methods that are transactional and run leased are named, unless they say that they are leased")
    void downgrades() {
        runner.withUserConfiguration(InMemory.class)
                .withBean(Shop.class)
                .withBean(Bookings.class)
                .run(context -> assertThat(context.getBean(Downgrades.class).all())
                        .hasSize(2)
                        .anyMatch(name -> name.startsWith("Bookings.book: "))
                        .anyMatch(name -> name.startsWith("POST /orders: ")));
    }

    @Test
    @DisplayName("W7 an application in which Onlyonce is disabled says what nothing protects")
    void disabled() {
        runner.withPropertyValues("onlyonce.enabled=false")
                .withBean(Shop.class)
                .withBean(Bookings.class)
                .run(context -> {
                    assertThat(DisabledConfiguration.bare(context.getBeanFactory()))
                            .containsExactly("Bookings.book", "Shop", "Shop.leased");
                    assertThat(context.getBean(DisabledConfiguration.DisabledEndpoint.class)
                                    .disabled())
                            .containsEntry("enabled", false)
                            .containsEntry("bare", List.of("Bookings.book", "Shop", "Shop.leased"));
                });
    }

    @Test
    @DisplayName("D6 a Reconciler bean must say for which operations it is, and no operation has two")
    void reconcilers() {
        WebApplicationContextRunner app =
                runner.withUserConfiguration(InMemory.class).withBean(Shop.class);
        refuses(app.withBean(Unassigned.class), "for which operations", "@Reconciles");
        refuses(
                app.withBean("one", Assigned.class).withBean("two", Assigned.class),
                "\"one\" and \"two\" both reconcile POST /orders",
                "one @Reconciles only");
        app.withBean("one", Assigned.class)
                .run(context -> assertThat(context.getBean(Reconcilers.class).operations())
                        .containsExactly("POST /orders"));
    }

    private static void refuses(WebApplicationContextRunner app, String wrong, String change) {
        app.run(context -> {
            assertThat(context).hasFailed();
            FailureAnalysis analysis = new InvalidSettingsAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription()).contains(wrong);
            assertThat(analysis.getAction()).contains(change);
        });
    }

    @Test
    @DisplayName("K3 T1 what is published is the policy that the engine executes an operation with")
    void published() {
        runner.withUserConfiguration(InMemory.class, OwnEngine.class)
                .run(context -> assertThat(new String(
                                context.getBean(WebProtection.class)
                                        .boundary()
                                        .specification()
                                        .body(),
                                StandardCharsets.UTF_8))
                        .contains("\"retentionSeconds\":2592000", "\"tombstoneSeconds\":31536000"));
    }

    @Test
    @DisplayName(
            "A 401 says what to set in development alone: by the profile, or without one unless it is a packaged application")
    void development() {
        ClassLoader unpackaged = getClass().getClassLoader();
        URL launcher = getClass().getResource("WarningsTest.class");
        ClassLoader packaged = new ClassLoader(unpackaged) {
            @Override
            public @Nullable URL getResource(String name) {
                return name.equals("org/springframework/boot/loader/launch/Launcher.class") ? launcher : null;
            }
        };
        MockEnvironment none = new MockEnvironment();
        assertThat(Development.isHere(none, unpackaged)).isTrue();
        assertThat(Development.isHere(none, packaged)).isFalse();
        MockEnvironment profile = new MockEnvironment();
        profile.setActiveProfiles("dev");
        assertThat(Development.isHere(profile, packaged)).isTrue();
        profile.setActiveProfiles("production");
        assertThat(Development.isHere(profile, unpackaged)).isFalse();
    }
}
