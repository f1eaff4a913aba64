package dev.onlyonce.spring.conformance;

import static java.util.Objects.requireNonNull;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.util.ReflectionTestUtils;

/** The application, started on a port of its own. */
final class RunningApp implements AutoCloseable {
    private final ConfigurableApplicationContext context;

    private RunningApp(ConfigurableApplicationContext context) {
        this.context = context;
    }

    static RunningApp start(String server, String... properties) {
        SpringApplication application = new SpringApplication(ConformanceApp.class);
        List<String> all = new java.util.ArrayList<>(List.of(
                "--server.port=0",
                "--spring.autoconfigure.exclude[0]=" + withoutOtherThan(server),
                "--spring.main.banner-mode=off",
                "--logging.level.root=WARN",
                "--onlyonce.coverage=required",
                "--onlyonce.limits.look-ups-per-second=0",
                "--onlyonce.operations.[POST /accepted/gate].when-running=accepted",
                "--onlyonce.operations.[POST /waiting/gate].wait-max=1m",
                "--onlyonce.operations.[POST /tombstone/echo].tombstone=1h",
                "--onlyonce.operations.[POST /stripe-tombstone/echo].tombstone=1h",
                "--onlyonce.operations.[POST /strict-tombstone/echo].tombstone=1h",
                "--onlyonce.operations.[POST /stripe-unknown/status/{code}].on-server-error=unknown",
                "--onlyonce.operations.[POST /uuid/echo].key-format=uuid",
                "--onlyonce.operations.[POST /personal/echo].refuse-personal-keys=true",
                "--onlyonce.operations.[POST /timestamp/echo].request-age.header=X-Made",
                "--onlyonce.operations.[POST /timestamp/echo].request-age.max=1h"));
        all.addAll(Arrays.asList(properties));
        return new RunningApp(application.run(all.toArray(String[]::new)));
    }

    /** With both servers on the class path, one of them must go. */
    private static String withoutOtherThan(String server) {
        return server.equals("tomcat")
                ? "org.springframework.boot.jetty.autoconfigure.servlet.JettyServletWebServerAutoConfiguration"
                : "org.springframework.boot.tomcat.autoconfigure.servlet.TomcatServletWebServerAutoConfiguration";
    }

    /** Which server it runs in. */
    String server() {
        // The interface of the context is in different packages on Spring Boot 3 and 4.
        return requireNonNull(ReflectionTestUtils.invokeGetterMethod(context, "webServer"))
                .getClass()
                .getSimpleName();
    }

    URI base() {
        return URI.create("http://localhost:" + context.getEnvironment().getRequiredProperty("local.server.port"));
    }

    <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    static String authorization(String tenant) {
        byte[] credentials = (tenant + ":secret").getBytes(StandardCharsets.UTF_8);
        return "Basic " + Base64.getEncoder().encodeToString(credentials);
    }

    @Override
    public void close() {
        context.close();
    }
}
