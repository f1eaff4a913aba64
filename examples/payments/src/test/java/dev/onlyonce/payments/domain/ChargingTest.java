package dev.onlyonce.payments.domain;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Key;
import dev.onlyonce.payments.db.DataSources;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.db.Dialect;
import dev.onlyonce.payments.db.Sql;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.OutboxRow;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("How a charge reaches the payment")
class ChargingTest {
    private static final InstantSource CLOCK = () -> Instant.EPOCH;

    @TempDir
    private Path folder;

    private final List<String> announced = new ArrayList<>();

    private final Announcements announcements = new Announcements() {
        @Override
        public void paid(Sql sql, Payment payment) {
            announced.add(payment.id());
        }

        @Override
        public void refunded(Sql sql, Payment payment, Refund refund) {
            throw new IllegalStateException("nobody has refunded " + payment.id());
        }
    };

    @Test
    @DisplayName("D6 a charge that an operator found, without the answer, makes the payment succeeded and not failed")
    void foundWithoutAnswer() throws Exception {
        String url = "jdbc:sqlite:" + folder.resolve("payments.db");
        try (HikariDataSource source = DataSources.open(url)) {
            Database database = new Database(source, Dialect.of(url));
            database.createTables();
            Payments payments = new Payments(CLOCK, announcements);
            ProviderClient nobody = new ProviderClient(URI.create("http://127.0.0.1:1"), Duration.ofSeconds(1));
            Charging charging = new Charging(database, payments, nobody, Duration.ofHours(1));
            Payment payment = payments.prepare("acme", new PaymentOrder(1999L, "EUR", null, null, null), "key");
            OutboxRow row = row(payment);
            database.transaction(sql -> {
                payments.insert(sql, payment);
                charging.settled(sql.connection(), row, new Delivery.Delivered(null, new byte[0]));
                return true;
            });
            assertThat(database.transaction(sql -> payments.get(sql, payment.id()))
                            .status())
                    .isEqualTo(Payment.SUCCEEDED);
            database.transaction(sql -> {
                charging.settled(sql.connection(), row, new Delivery.Delivered(null, new byte[0]));
                return true;
            });
            assertThat(announced).as("once").containsExactly(payment.id());
        }
    }

    private static OutboxRow row(Payment payment) {
        String call = """
                {"id": "%s", "tenant": "acme", "amount": 1999, "currency": "EUR", "description": "", "source": "tok_visa",
                 "downstreamKey": "key", "createdAt": 0}""".formatted(payment.id());
        return new OutboxRow(
                1,
                Key.of("acme", ChargeReconciler.OPERATION, "key-1"),
                Charging.TOPIC,
                call.getBytes(StandardCharsets.UTF_8),
                1,
                Instant.EPOCH,
                null,
                null,
                false,
                null);
    }
}
