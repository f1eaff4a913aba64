package dev.onlyonce.benchmarks;

import dev.onlyonce.Way;
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
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** The same trivial application for every contender; {@code --contender} says which. */
@SpringBootConfiguration
@EnableAutoConfiguration
@Import({HttpApp.Payments.class, HttpApp.Unprotected.class, HttpApp.Leased.class, HttpApp.Transactional.class})
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

    /** The effect: one row, written by the connection of the caller's transaction, or by one of its own. */
    @Component
    public static class Payments {
        private final JdbcTemplate jdbc;

        Payments(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
            jdbc.execute("CREATE TABLE IF NOT EXISTS payment (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
                    + " amount int NOT NULL, receipt text NOT NULL)");
        }

        Payment pay(Order order) {
            String receipt = Base64.getEncoder().encodeToString(Work.response()).substring(0, 460);
            jdbc.update(
                    "INSERT INTO payment (amount, receipt) VALUES (?, ?)", order.amount(), receipt.substring(0, 20));
            return new Payment(order.amount(), receipt);
        }
    }

    /** The endpoint as it is. */
    @RestController
    @ConditionalOnProperty(name = "onlyonce.enabled", havingValue = "false")
    public static class Unprotected {
        private final Payments payments;

        Unprotected(Payments payments) {
            this.payments = payments;
        }

        /** Pays. */
        @PostMapping("/payments")
        @ResponseStatus(HttpStatus.CREATED)
        public Payment post(@RequestBody Order order) {
            return payments.pay(order);
        }
    }

    /** The endpoint with the starter, the leased way. */
    @RestController
    @ConditionalOnProperty(name = "contender", havingValue = "leased")
    public static class Leased {
        private final Payments payments;

        Leased(Payments payments) {
            this.payments = payments;
        }

        /** Pays once. */
        @Idempotent
        @PostMapping("/payments")
        @ResponseStatus(HttpStatus.CREATED)
        public Payment post(@RequestBody Order order) {
            return payments.pay(order);
        }
    }

    /** The endpoint with the starter, the transactional way. */
    @RestController
    @ConditionalOnProperty(name = "contender", havingValue = "transactional")
    public static class Transactional {
        private final Payments payments;

        Transactional(Payments payments) {
            this.payments = payments;
        }

        /** Pays once, in the transaction of its entry. */
        @Idempotent(way = Way.TRANSACTIONAL)
        @PostMapping("/payments")
        @ResponseStatus(HttpStatus.CREATED)
        public Payment post(@RequestBody Order order) {
            return payments.pay(order);
        }
    }

    @Bean
    TenantResolver tenants() {
        return request -> Work.TENANT;
    }

    @Bean
    @ConditionalOnProperty(name = "contender", havingValue = "leased_by_hand")
    HttpByHandFilter threeCommits(JdbcTemplate jdbc) {
        return new HttpByHandFilter(jdbc, TransactionOperations.withoutTransaction());
    }

    @Bean
    @ConditionalOnProperty(name = "contender", havingValue = "transactional_by_hand")
    HttpByHandFilter oneTransaction(JdbcTemplate jdbc, TransactionTemplate transactions) {
        return new HttpByHandFilter(jdbc, transactions);
    }
}
