package dev.onlyonce.spring.aot;

import dev.onlyonce.spring.Idempotent;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.aot.AotDetector;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/** An application that is processed ahead of time, and asks itself the same twice. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration(
        excludeName = {
            "org.springframework.boot.jetty.autoconfigure.servlet.JettyServletWebServerAutoConfiguration",
            "org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration",
            "org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration"
        })
@Import({AotApp.Payments.class, AotApp.Books.class})
class AotApp {
    static final String GENERATED = "generated: ";

    record Order(String id, long amount) {}

    record Receipt(String order, int run) {}

    /** Which no handler returns. */
    record Booked(String order, int run) {}

    static class Books {
        private final AtomicInteger runs = new AtomicInteger();

        @Idempotent(key = "#order.id")
        public Booked book(Order order) {
            return new Booked(order.id(), runs.incrementAndGet());
        }
    }

    @RestController
    static class Payments {
        private final Books books;
        private final AtomicInteger runs = new AtomicInteger();

        Payments(Books books) {
            this.books = books;
        }

        @PostMapping("/payments")
        @Idempotent
        @Transactional
        public Receipt pay(@RequestBody Order order) {
            return new Receipt(order.id(), runs.incrementAndGet());
        }

        @PostMapping("/bookings")
        public Receipt book(@RequestHeader("Idempotency-Key") String key, @RequestBody Order order) {
            Booked booked = books.book(order);
            return new Receipt(booked.order(), booked.run());
        }
    }

    public static void main(String[] arguments) throws Exception {
        try (ConfigurableApplicationContext context = SpringApplication.run(AotApp.class, arguments)) {
            int port = ((WebServerApplicationContext) context).getWebServer().getPort();
            System.out.println(GENERATED + AotDetector.useGeneratedArtifacts());
            for (String path : new String[] {"/payments", "/payments", "/bookings", "/bookings"}) {
                HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                        .header("Content-Type", "application/json")
                        .header("Idempotency-Key", "k-1")
                        .POST(BodyPublishers.ofString("{\"id\":\"a\",\"amount\":7}"))
                        .build();
                HttpResponse<String> answer = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
                System.out.println(path + " " + answer.statusCode() + " " + answer.body());
            }
        }
    }
}
