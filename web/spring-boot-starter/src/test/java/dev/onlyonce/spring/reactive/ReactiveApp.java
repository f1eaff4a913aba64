package dev.onlyonce.spring.reactive;

import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;

/** A WebFlux application in Reactor Netty, on a port of its own. */
record ReactiveApp(ConfigurableApplicationContext context) implements AutoCloseable {

    static ReactiveApp start(Class<?> type, String... properties) {
        SpringApplication application = new SpringApplication(type);
        // Spring MVC is on the class path of these tests too.
        application.setWebApplicationType(WebApplicationType.REACTIVE);
        List<String> all = new ArrayList<>(List.of(
                "--server.port=0",
                "--spring.autoconfigure.exclude[0]="
                        + "org.springframework.boot.jetty.autoconfigure.reactive.JettyReactiveWebServerAutoConfiguration",
                "--spring.autoconfigure.exclude[1]="
                        + "org.springframework.boot.tomcat.autoconfigure.reactive.TomcatReactiveWebServerAutoConfiguration",
                "--spring.main.banner-mode=off",
                "--logging.level.root=WARN"));
        all.addAll(Arrays.asList(properties));
        return new ReactiveApp(application.run(all.toArray(String[]::new)));
    }

    /** Which server it runs in. */
    String server() {
        return ((WebServerApplicationContext) context).getWebServer().getClass().getSimpleName();
    }

    URI base() {
        int port = ((WebServerApplicationContext) context).getWebServer().getPort();
        return URI.create("http://localhost:" + port);
    }

    @Override
    public void close() {
        context.close();
    }
}
