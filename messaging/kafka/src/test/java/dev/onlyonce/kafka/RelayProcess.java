package dev.onlyonce.kafka;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.DeliveryHandler;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.sql.outbox.OutboxRow;
import dev.onlyonce.testservers.JavaProcess;
import java.io.IOException;
import java.sql.Connection;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/** A relay in a process of its own, to be killed when it has published a certain message, and nobody has written that down. */
final class RelayProcess {
    private static final Duration LEASE = Duration.ofSeconds(2);

    private RelayProcess() {}

    /** Starts one that writes the key of its victim to the ledger, and then waits to be killed. */
    static Process start(Broker broker, Ledger ledger, String victim) {
        return JavaProcess.start(RelayProcess.class, broker.server.address(), ledger.url(), victim);
    }

    private record Waiting(KafkaRelay relay, HikariDataSource source, String victim) implements DeliveryHandler {
        @Override
        public Delivery deliver(OutboxRow row) throws Exception {
            Delivery delivery = relay.deliver(row);
            if (row.key().value().equals(victim)) {
                try (Connection connection = source.getConnection()) {
                    Ledger.write(connection, victim);
                }
                new CountDownLatch(1).await();
            }
            return delivery;
        }

        @Override
        public Duration keyLifetime() {
            return relay.keyLifetime();
        }
    }

    public static void main(String[] args) throws IOException {
        HikariDataSource source = Ledger.pool(args[1]);
        Onlyonce once = Onlyonce.builder(SqlStore.open(source))
                .lease(LEASE)
                .sweepEvery(Duration.ofMillis(200))
                .build();
        KafkaRelay relay = new KafkaRelay(Map.of("bootstrap.servers", args[0]), "/orders");
        Outbox outbox = Outbox.builder(once)
                .handler(KafkaRelay.TOPIC, new Waiting(relay, source, args[2]))
                .concurrency(4)
                .backoff(Duration.ofMillis(5), Duration.ofMillis(20))
                .pollEvery(Duration.ofMillis(20))
                .build();
        outbox.start();
        JavaProcess.runUntilKilled();
    }
}
