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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;

@DisplayName("The guide for Spring Boot")
class GuideTest {
    private static final Path GUIDE = Path.of("..", "docs", "guides", "spring-boot.md");
    private static final Pattern PROGRAM = Pattern.compile("```java\\n(package shop;.*?)```", Pattern.DOTALL);

    @TempDir
    static Path folder;

    @Test
    @DisplayName("R1 shows an application that works as pasted: two requests, one order")
    void works() throws Exception {
        Matcher program = PROGRAM.matcher(Files.readString(GUIDE));
        assertThat(program.find()).as("the guide has a program").isTrue();
        Path source = folder.resolve("Shop.java");
        Files.writeString(source, program.group(1));
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
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
            Thread.currentThread().setContextClassLoader(loader);
            run(loader.loadClass("shop.Shop"));
        } finally {
            Thread.currentThread().setContextClassLoader(getClass().getClassLoader());
        }
    }

    private static void run(Class<?> shop) throws Exception {
        SpringApplication application = new SpringApplication(shop);
        try (ConfigurableApplicationContext context = application.run(
                "--server.port=0",
                "--spring.main.banner-mode=off",
                "--logging.level.root=WARN",
                // On the class path of these tests there is more than a newcomer has.
                "--spring.autoconfigure.exclude[0]=org.springframework.boot.jetty.autoconfigure.servlet.JettyServletWebServerAutoConfiguration",
                "--spring.autoconfigure.exclude[1]=org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
                "--spring.autoconfigure.exclude[2]=org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration",
                "--spring.autoconfigure.exclude[3]=org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration",
                "--onlyonce.store.sqlite=" + folder.resolve("onlyonce.db"),
                "--onlyonce.anonymous-tenant=everybody")) {
            int port = ((WebServerApplicationContext) context).getWebServer().getPort();
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
}
