package dev.onlyonce.spring.sample;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.http.WebhookReceiver;
import dev.onlyonce.http.WebhookRejected;
import dev.onlyonce.http.WebhookScheme;
import dev.onlyonce.spring.WebhookEndpoint;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** An application that is paid by webhooks. What an event says is what happens to it. */
@SampleApplication
@Import({WebhookApp.Orders.class, WebhookApp.Payments.class, WebhookApp.Everything.class})
class WebhookApp {
    @Bean
    WebhookEndpoint stripeWebhooks(Onlyonce once, @Value("${stripe.webhook-secret}") String secret, Orders orders) {
        return new WebhookEndpoint(
                "/webhooks/stripe",
                WebhookReceiver.builder(once, "stripe", WebhookScheme.stripe(secret)),
                webhook -> orders.pay(webhook.text()));
    }

    @Bean
    static LosingCommits losingCommits() {
        return new LosingCommits();
    }

    /** A controller that would take every path. */
    @RestController
    static class Everything {
        @PostMapping("/**")
        String take() {
            return "taken";
        }
    }

    @Component
    static class Orders {
        /** A slow effect has begun. */
        final CountDownLatch entered = new CountDownLatch(1);
        /** It may go on. */
        final CompletableFuture<Void> release = new CompletableFuture<>();

        private final JdbcTemplate jdbc;
        private final Payments payments;

        Orders(JdbcTemplate jdbc, Payments payments) {
            this.jdbc = jdbc;
            this.payments = payments;
            jdbc.execute("CREATE TABLE paid (event VARCHAR(1000) NOT NULL)");
        }

        void pay(String event) {
            jdbc.update("INSERT INTO paid VALUES (?)", event);
            if (event.contains("fails")) {
                throw new IllegalStateException("the effect failed");
            } else if (event.contains("rejected")) {
                throw new WebhookRejected("nobody knows this order");
            } else if (event.contains("nested")) {
                payments.note(event);
            } else if (event.contains("swallowed")) {
                swallow();
            } else if (event.contains("slow")) {
                entered.countDown();
                release.join();
            }
        }

        /** In PostgreSQL the transaction is lost, whoever catches what. */
        private void swallow() {
            try {
                jdbc.update("INSERT INTO nowhere VALUES (1)");
            } catch (DataAccessException e) {
                jdbc.getFetchSize();
            }
        }

        int paid(String like) {
            Integer count = jdbc.queryForObject("SELECT COUNT(*) FROM paid WHERE event LIKE ?", Integer.class, like);
            return count == null ? 0 : count;
        }
    }

    @Component
    static class Payments {
        private final JdbcTemplate jdbc;

        Payments(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @Transactional
        void note(String event) {
            jdbc.update("INSERT INTO paid VALUES (?)", "note of " + event);
        }
    }
}
