package dev.onlyonce.payments;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.payments.provider.Movement;
import dev.onlyonce.payments.storm.ProviderLedger;
import dev.onlyonce.sql.LedgerReconciliation;
import dev.onlyonce.sql.LedgerReconciliation.Line;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The payments' database and the provider's ledger, read from outside when all has come to rest. */
final class Books {
    private static final Duration DRY_PATIENCE = Duration.ofMinutes(3);
    /** Completed; see State. */
    private static final String UNSETTLED =
            "SELECT count(*) FROM onlyonce_entry WHERE state <> 3 AND fingerprint_version > 0";

    private static final String QUEUED = "SELECT count(*) FROM onlyonce_outbox";
    private static final String PENDING = "SELECT count(*) FROM payment WHERE status = 'pending'";
    private static final String REFUNDS_PENDING = "SELECT count(*) FROM refund WHERE status = 'pending'";
    private static final String POSTED = "SELECT event_id, event_type, account, debit, credit, currency FROM book_line";
    private static final String OF_ANOTHER_TENANT = """
            SELECT count(*) FROM book_line l
            WHERE NOT EXISTS (SELECT 1 FROM payment p WHERE p.id = l.event_id AND p.tenant = l.tenant)
              AND NOT EXISTS (SELECT 1 FROM refund r WHERE r.id = l.event_id AND r.tenant = l.tenant)
            """;

    private final String jdbcUrl;
    private final ProviderLedger ledger;

    Books(String jdbcUrl, URI provider) {
        this.jdbcUrl = jdbcUrl;
        this.ledger = new ProviderLedger(provider);
    }

    /** Waits until workers, sweeper and reconciler have nothing left to do. */
    void awaitDry(Instance instance) throws SQLException, InterruptedException {
        long end = System.nanoTime() + DRY_PATIENCE.toNanos();
        while (count(UNSETTLED) + count(QUEUED) > 0 && System.nanoTime() < end) {
            instance.letRun(Duration.ofMillis(200));
        }
    }

    /** Every key is settled, nothing is left over, and the provider's ledger has the same charges as the payments. */
    void check(int payments) throws Exception {
        assertThat(count(UNSETTLED)).as("entries that are not completed").isZero();
        assertThat(count(QUEUED)).as("rows in the outbox").isZero();
        assertThat(count(PENDING)).as("pending payments").isZero();
        List<Line> local = payments();
        assertThat(local).as("payments that were accepted").hasSize(payments);
        List<LedgerReconciliation.Difference> differences = new ArrayList<>();
        LedgerReconciliation.compare(local.iterator(), charges().iterator(), differences::add);
        assertThat(differences).as("payments against the provider's ledger").isEmpty();
        assertThat(count(REFUNDS_PENDING)).as("pending refunds").isZero();
        checkPosted();
    }

    /** For each charge and refund that the provider made, the books have one debit and one credit of it, and nothing else. */
    void checkPosted() throws Exception {
        List<String> made = new ArrayList<>();
        for (Movement charge : movements("charge")) {
            post(made, charge, "payment.succeeded", "provider", "merchant");
        }
        for (Movement refund : movements("refund")) {
            post(made, refund, "refund.succeeded", "merchant", "provider");
        }
        List<String> posted = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection(jdbcUrl);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(POSTED)) {
            while (row.next()) {
                posted.add("%s %s %s %d %d %s"
                        .formatted(
                                row.getString(1),
                                row.getString(2),
                                row.getString(3),
                                row.getLong(4),
                                row.getLong(5),
                                row.getString(6)));
            }
        }
        assertThat(posted).as("lines of the books").containsExactlyInAnyOrderElementsOf(made);
        assertThat(count(OF_ANOTHER_TENANT)).as("lines of another tenant").isZero();
    }

    private static void post(List<String> lines, Movement made, String type, String debited, String credited) {
        if (made.succeeded()) {
            String event = made.reference() + " " + type + " ";
            lines.add(event + debited + " " + made.amount() + " 0 " + made.currency());
            lines.add(event + credited + " 0 " + made.amount() + " " + made.currency());
        }
    }

    long count(String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(jdbcUrl);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    private List<Line> payments() throws SQLException {
        List<Line> lines = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection(jdbcUrl);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT id, amount, status FROM payment")) {
            while (row.next()) {
                lines.add(new Line(row.getString(1), row.getLong(2), row.getString(3)));
            }
        }
        lines.sort(Comparator.comparing(Line::id));
        return lines;
    }

    /** Every charge that was made or declined, also the second one of a payment. */
    private List<Line> charges() throws Exception {
        return movements("charge").stream()
                .map(m -> new Line(m.reference(), m.amount(), m.status()))
                .sorted(Comparator.comparing(Line::id))
                .toList();
    }

    List<Movement> movements(String kind) throws Exception {
        return ledger.byReference().values().stream()
                .flatMap(List::stream)
                .filter(movement -> movement.kind().equals(kind))
                .toList();
    }
}
