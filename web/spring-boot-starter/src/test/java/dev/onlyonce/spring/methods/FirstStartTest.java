package dev.onlyonce.spring.methods;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Exchange;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpRequest;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.spring.StartUp;
import dev.onlyonce.spring.store.OnlyonceAutoConfiguration;
import dev.onlyonce.spring.transactions.OnlyonceTransactionsAutoConfiguration;
import dev.onlyonce.spring.web.OnlyonceWebAutoConfiguration;
import dev.onlyonce.spring.web.WebProtection;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Store;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

@DisplayName("An application with the starter and little else")
class FirstStartTest {
    private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    WebMvcAutoConfiguration.class,
                    OnlyonceAutoConfiguration.class,
                    OnlyonceTransactionsAutoConfiguration.class,
                    OnlyonceMethodsAutoConfiguration.class,
                    OnlyonceWebAutoConfiguration.class));

    @RestController
    static class Bare {
        @PostMapping("/bare")
        void bare() {}
    }

    /** An annotation of the application's own. */
    @Idempotent(profile = "strict")
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.METHOD)
    @interface Payment {}

    @RestController
    static class Shop {
        @Payment
        @PostMapping("/orders")
        void order() {}
    }

    @Test
    @DisplayName("starts without a store as long as nothing is protected")
    void nothing() {
        WebApplicationContextRunner poor = runner.withClassLoader(new FilteredClassLoader("org.sqlite"));
        poor.withUserConfiguration(Bare.class)
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .doesNotHaveBean(Store.class)
                        .doesNotHaveBean(Onlyonce.class));
        StartUp.refuses(
                poor.withUserConfiguration(Shop.class),
                "SQLite's driver is not on the class path",
                "org.xerial:sqlite-jdbc");
        poor.withUserConfiguration(Bare.class)
                .withPropertyValues("onlyonce.store=memory")
                .run(context -> assertThat(context).hasSingleBean(MemoryStore.class));
    }

    @Test
    @DisplayName("has one tenant while only its developer can reach it, and none otherwise")
    void tenant() {
        WebApplicationContextRunner open = runner.withClassLoader(new FilteredClassLoader(SecurityFilterChain.class))
                .withPropertyValues("onlyonce.store=memory")
                .withUserConfiguration(Shop.class);
        answers(open.withPropertyValues("server.address=127.0.0.1"), Exchange.Stage.READY);
        answers(open.withPropertyValues("spring.profiles.active=dev"), Exchange.Stage.READY);
        answers(open, Exchange.Stage.ANSWERED);
        answers(open.withPropertyValues("server.address=0.0.0.0"), Exchange.Stage.ANSWERED);
        answers(
                runner.withPropertyValues("onlyonce.store=memory", "server.address=127.0.0.1")
                        .withUserConfiguration(Shop.class),
                Exchange.Stage.ANSWERED);
    }

    private static void answers(WebApplicationContextRunner application, Exchange.Stage stage) {
        application.run(context -> {
            Boundary boundary = context.getBean(WebProtection.class).boundary();
            HttpRequest request =
                    new HttpRequest("POST", "/orders", null, Headers.of("Idempotency-Key", "key-1"), new byte[0], null);
            Exchange exchange = boundary.exchange(boundary.operations().get(0), request);
            assertThat(exchange.stage()).isEqualTo(stage);
            if (stage == Exchange.Stage.ANSWERED) {
                assertThat(exchange.answer().status()).isEqualTo(401);
            }
        });
    }

    @Test
    @DisplayName("says in one line what is protected, and takes an annotation of its own for @Idempotent")
    void line() {
        runner.withPropertyValues("onlyonce.store=memory", "onlyonce.anonymous-tenant=everybody")
                .withUserConfiguration(Shop.class, Bare.class)
                .run(context -> {
                    WebProtection web = context.getBean(WebProtection.class);
                    assertThat(web.operations().all().get(0).profile().name()).isEqualTo("strict");
                    assertThat(new StartUpLine(web).text(context.getBean(Store.class), 2))
                            .isEqualTo(
                                    "Onlyonce: protected: 1 leased; entries in MemoryStore; keys belong to the principal,"
                                            + " or else \"everybody\"; reconcilers: 2; not protected: POST /bare");
                });
    }
}
