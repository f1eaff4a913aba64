package dev.onlyonce.spring.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.spring.Idempotent;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

@DisplayName("An application with spring.threads.virtual.enabled")
@EnabledForJreRange(min = JRE.JAVA_21)
class VirtualThreadsTest {
    private static final int KEYS = 30;

    @TempDir
    Path folder;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            excludeName = {
                "org.springframework.boot.jetty.autoconfigure.servlet.JettyServletWebServerAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration"
            })
    @Import(Shop.class)
    static class App {}

    @RestController
    static class Shop {
        private final AtomicInteger runs = new AtomicInteger();

        @Idempotent
        @PostMapping("/leased")
        public String leased(@RequestBody String body) throws Exception {
            return run();
        }

        @Idempotent
        @Transactional
        @PostMapping("/transactional")
        public String transactional(@RequestBody String body) throws Exception {
            return run();
        }

        int runs() {
            return runs.get();
        }

        private String run() throws ReflectiveOperationException {
            // The tests are compiled for Java 17, which does not have it.
            Object virtual = Thread.class.getMethod("isVirtual").invoke(Thread.currentThread());
            return runs.incrementAndGet() + " " + virtual;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/leased", "/transactional"})
    @DisplayName("C3 runs each key once, however many requests there are at a time")
    void once(String path) {
        try (RunningSample app = new RunningSample(
                App.class,
                "jdbc:h2:file:" + folder.resolve("entries"),
                "--spring.threads.virtual.enabled=true",
                "--onlyonce.anonymous-tenant=everybody",
                "--onlyonce.anonymous-credentials=",
                "--onlyonce.wait-max=30s")) {
            List<List<CompletableFuture<HttpResponse<String>>>> keys = new ArrayList<>();
            for (int key = 0; key < KEYS; key++) {
                String name = "key-" + key;
                keys.add(
                        List.of(app.begin(path, name, "{}"), app.begin(path, name, "{}"), app.begin(path, name, "{}")));
            }
            for (List<CompletableFuture<HttpResponse<String>>> answers : keys) {
                String first = answers.get(0).join().body();
                assertThat(first).endsWith(" true");
                assertThat(answers).allSatisfy(answer -> {
                    assertThat(answer.join().statusCode()).isEqualTo(200);
                    assertThat(answer.join().body()).isEqualTo(first);
                });
            }
            assertThat(app.bean(Shop.class).runs()).isEqualTo(KEYS);
        }
    }
}
