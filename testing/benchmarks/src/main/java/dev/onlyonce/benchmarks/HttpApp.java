package dev.onlyonce.benchmarks;

import dev.onlyonce.servlet.TenantResolver;
import dev.onlyonce.spring.Idempotent;
import java.io.IOException;
import java.util.Base64;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** The same trivial application for every contender; {@code --contender} says which. */
@SpringBootConfiguration
@EnableAutoConfiguration
@Import({HttpApp.Unprotected.class, HttpApp.Protected.class})
public class HttpApp {
    /** What stands before the port number when the server is ready. */
    static final String PORT = "port ";

    /** Serves until the standard input ends. */
    public static void main(String[] args) throws IOException {
        try (ConfigurableApplicationContext context = SpringApplication.run(HttpApp.class, args)) {
            System.out.println(PORT + context.getEnvironment().getRequiredProperty("local.server.port"));
            while (System.in.read() >= 0) {
                // Whoever started this has nothing to say until it ends.
            }
        }
    }

    /** What is asked for. */
    public record Order(int amount) {}

    /** What is answered: with the names, about 500 bytes. */
    public record Payment(int amount, String receipt) {}

    private static Payment pay(Order order) {
        return new Payment(
                order.amount(),
                Base64.getEncoder().encodeToString(Work.response()).substring(0, 460));
    }

    /** The endpoint as it is. */
    @RestController
    @ConditionalOnProperty(name = "onlyonce.enabled", havingValue = "false")
    public static class Unprotected {
        /** Pays. */
        @PostMapping("/payments")
        @ResponseStatus(HttpStatus.CREATED)
        public Payment post(@RequestBody Order order) {
            return pay(order);
        }
    }

    /** The endpoint with the starter. */
    @RestController
    @ConditionalOnProperty(name = "onlyonce.enabled", havingValue = "true")
    public static class Protected {
        /** Pays once. */
        @Idempotent
        @PostMapping("/payments")
        @ResponseStatus(HttpStatus.CREATED)
        public Payment post(@RequestBody Order order) {
            return pay(order);
        }
    }

    @Bean
    TenantResolver tenants() {
        return request -> Work.TENANT;
    }

    @Bean
    @ConditionalOnProperty(name = "contender", havingValue = "by-hand")
    HttpByHandFilter byHand(JdbcTemplate jdbc) {
        return new HttpByHandFilter(jdbc);
    }
}
