package dev.onlyonce.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringApplicationRunListener;
import org.springframework.context.ConfigurableApplicationContext;

@DisplayName("The programs in the guide for Spring Boot and in the README")
@Isolated
class GuideTest {
    private static final Path ROOT = Path.of(System.getProperty("onlyonce.root"));
    private static final Pattern PROGRAM = Pattern.compile("```java\\n(package shop;.*?)```", Pattern.DOTALL);
    /** On the class path of these tests there is more than a newcomer has; and the port must be free. */
    private static final Map<String, String> HERE = Map.of(
            "server.port",
            "0",
            "spring.main.banner-mode",
            "off",
            "logging.level.root",
            "WARN",
            "spring.autoconfigure.exclude[0]",
            "org.springframework.boot.jetty.autoconfigure.servlet.JettyServletWebServerAutoConfiguration",
            "spring.autoconfigure.exclude[1]",
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
            "spring.autoconfigure.exclude[2]",
            "org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration",
            "spring.autoconfigure.exclude[3]",
            "org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration",
            "onlyonce.anonymous-tenant",
            "everybody");
    /** Spring MVC is on this class path too. */
    private static final Map<String, String> ON_WEBFLUX = Map.of(
            "spring.main.web-application-type",
            "reactive",
            "spring.autoconfigure.exclude[0]",
            "org.springframework.boot.jetty.autoconfigure.reactive.JettyReactiveWebServerAutoConfiguration",
            "spring.autoconfigure.exclude[2]",
            "org.springframework.boot.security.autoconfigure.web.reactive.ReactiveWebSecurityAutoConfiguration",
            "spring.autoconfigure.exclude[3]",
            "org.springframework.boot.security.autoconfigure.actuate.web.reactive.ReactiveManagementWebSecurityAutoConfiguration");

    @TempDir
    Path folder;

    private static String program(String page) throws Exception {
        Matcher program = PROGRAM.matcher(Files.readString(ROOT.resolve(page)));
        assertThat(program.find()).as("the page has a program").isTrue();
        return program.group(1);
    }

    @Test
    @DisplayName("In the README 20 lines are enough")
    void isShort() throws Exception {
        assertThat(program("README.md").lines()).hasSizeLessThanOrEqualTo(20);
    }

    @Test
    @DisplayName("Queued and stepped handlers in the guide are those that the tests run")
    void waysAreRun() throws Exception {
        String page = Files.readString(ROOT.resolve("docs/guides/spring-boot.md"));
        String section = page.substring(page.indexOf("### Queued handlers"), page.indexOf("Streaming handlers"));
        String tested = Files.readString(Path.of("src/test/java/dev/onlyonce/spring/sample/WaysApp.java"));
        Matcher sample = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL).matcher(section);
        int samples = 0;
        while (sample.find()) {
            assertThat(tested).contains(sample.group(1));
            samples++;
        }
        assertThat(samples).isEqualTo(3);
    }

    @Test
    @DisplayName("Listeners in the guide are those that the tests run")
    void listenersAreRun() throws Exception {
        String page = Files.readString(ROOT.resolve("docs/guides/spring-boot.md"));
        String section = page.substring(page.indexOf("## Listeners of messages"), page.indexOf("## Tenants"));
        Matcher sample = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL).matcher(section);
        assertThat(sample.find()).isTrue();
        assertThat(Files.readString(Path.of("src/test/java/dev/onlyonce/spring/listeners/KafkaListenersTest.java")))
                .containsIgnoringWhitespaces(sample.group(1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"docs/guides/spring-boot.md", "docs/guides/webflux.md", "README.md"})
    @DisplayName("R1 work as pasted: two requests, one order")
    void works(String page) throws Exception {
        Path source = folder.resolve("Shop.java");
        Files.writeString(source, program(page));
        int compiled = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        "-proc:none",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-d",
                        folder.toString(),
                        source.toString());
        assertThat(compiled).as("the program compiles").isZero();
        Map<String, String> settings = new HashMap<>(HERE);
        if (page.contains("webflux")) {
            settings.putAll(ON_WEBFLUX);
        }
        settings.forEach(System::setProperty);
        System.setProperty(
                "onlyonce.store.sqlite", folder.resolve("onlyonce.db").toString());
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
            Thread.currentThread().setContextClassLoader(loader);
            try (ConfigurableApplicationContext context = started(loader.loadClass("shop.Shop"))) {
                orderTwice(context.getEnvironment().getRequiredProperty("local.server.port"));
            }
        } finally {
            Thread.currentThread().setContextClassLoader(getClass().getClassLoader());
            settings.keySet().forEach(System::clearProperty);
            System.clearProperty("onlyonce.store.sqlite");
        }
    }

    /** Calls {@code main}, as everybody does, and returns what that has started. */
    private static ConfigurableApplicationContext started(Class<?> program) throws Exception {
        AtomicReference<ConfigurableApplicationContext> started = new AtomicReference<>();
        SpringApplicationRunListener listener = new SpringApplicationRunListener() {
            @Override
            public void ready(ConfigurableApplicationContext context, Duration timeTaken) {
                started.set(context);
            }
        };
        var main = program.getMethod("main", String[].class);
        SpringApplication.withHook(application -> listener, () -> main.invoke(null, (Object) new String[0]));
        return started.get();
    }

    private static void orderTwice(String port) throws Exception {
        HttpRequest order = HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/orders"))
                .header("Idempotency-Key", "8e03978e-40d5")
                .POST(BodyPublishers.noBody())
                .build();
        HttpClient client = HttpClient.newHttpClient();
        HttpResponse<String> first = client.send(order, BodyHandlers.ofString());
        HttpResponse<String> second = client.send(order, BodyHandlers.ofString());
        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(first.body()).startsWith("order ");
        assertThat(second.body()).isEqualTo(first.body());
        assertThat(second.headers().firstValue("Idempotent-Replayed")).hasValue("true");
    }
}
