package dev.onlyonce.payments.domain;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.payments.db.DataSources;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.db.Dialect;
import dev.onlyonce.payments.db.Sql;
import dev.onlyonce.payments.provider.Provider;
import dev.onlyonce.payments.provider.ProviderOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("Forgotten refunds")
class ForgottenRefundsTest {
    private static final InstantSource CLOCK = () -> Instant.EPOCH;

    @TempDir
    private Path folder;

    @Test
    @DisplayName("D7 are ended although one before them cannot be announced now")
    void oneFails() throws Exception {
        String url = "jdbc:sqlite:" + folder.resolve("payments.db");
        List<String> announced = new ArrayList<>();
        List<String> failing = new ArrayList<>();
        Announcements announcements = new Announcements() {
            @Override
            public void paid(Sql sql, Payment payment) {}

            @Override
            public void refunded(Sql sql, Payment payment, Refund refund) {
                if (failing.contains(refund.id())) {
                    throw new IllegalStateException("not now");
                }
                announced.add(refund.id());
            }
        };
        try (Provider provider = Provider.start(ProviderOptions.in(folder));
                HikariDataSource source = DataSources.open(url)) {
            Database database = new Database(source, Dialect.of(url));
            database.createTables();
            Refunding.Tables tables =
                    new Refunding.Tables(new Payments(CLOCK, announcements), new Refunds(CLOCK), announcements);
            ProviderClient client = new ProviderClient(provider.url(), Duration.ofMinutes(1));
            List<String> ids = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                ids.add(refunded(database, tables, client, "key-" + i));
            }
            Collections.sort(ids);
            failing.add(ids.get(0));
            // Quiet since before they began: all of them are looked at.
            ForgottenRefunds forgotten = new ForgottenRefunds(database, tables, client, Duration.ofMinutes(-1), CLOCK);
            forgotten.run();
            assertThat(announced).containsExactlyInAnyOrderElementsOf(ids.subList(1, 3));
            failing.clear();
            forgotten.run();
            assertThat(announced).containsExactlyInAnyOrderElementsOf(ids);
        }
    }

    /** A refund that the provider has made, and whose answer was lost. */
    private static String refunded(Database database, Refunding.Tables tables, ProviderClient client, String key) {
        Payment payment =
                tables.payments().prepare("acme", new PaymentOrder(1999L, "EUR", null, null, null), "pay-" + key);
        String charge = ((ProviderClient.Reply.Decided) client.charge(payment, "pay-" + key))
                .movement()
                .id();
        Refund refund = database.transaction(sql -> {
            tables.payments().insert(sql, payment);
            return tables.refunds().begin(sql, payment, 500, key);
        });
        assertThat(client.refund(charge, refund, key)).isInstanceOf(ProviderClient.Reply.Decided.class);
        return refund.id();
    }
}
