package dev.onlyonce.sql.guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.Reconciler.Finding;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.fingerprint.Fingerprinter;
import dev.onlyonce.fingerprint.MalformedRequest;
import dev.onlyonce.sql.SchemaMode;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.outbox.Accepted;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.DeliveryHandler;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.sql.outbox.OutboxCall;
import dev.onlyonce.sql.outbox.OutboxRow;
import dev.onlyonce.sql.steps.Flow;
import dev.onlyonce.sql.steps.Steps;
import dev.onlyonce.sql.transactions.Transactions;
import dev.onlyonce.store.Encryption;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sqlite.SQLiteDataSource;

@DisplayName("The guides")
final class GuidesTest {
    private static final Path SOURCE = Path.of("src/test/java/dev/onlyonce/sql/guide/GuidesTest.java");
    private static final Pattern JAVA = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    @TempDir
    private Path folder;

    private final Provider provider = new Provider();
    private final Provider mail = provider;
    private final Key key = Key.of("acme", "POST /payments", "8e03978e-40d5");
    private final Fingerprint fingerprint = Fingerprint.of(new byte[] {1});
    private SQLiteDataSource dataSource = new SQLiteDataSource();

    @BeforeEach
    void open() throws SQLException {
        dataSource = new SQLiteDataSource();
        dataSource.setUrl("jdbc:sqlite:" + folder.resolve("shop.db") + "?journal_mode=WAL&synchronous=FULL");
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE payment (amount INTEGER NOT NULL, state TEXT NOT NULL)");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"guides/outbox.md", "guides/steps.md", "reference/sql.md", "reference/fingerprint.md"})
    @DisplayName("show only code that is compiled and run here")
    void onlyWhatRuns(String page) throws IOException {
        String source = squeezed(Files.readString(SOURCE));
        Matcher code = JAVA.matcher(Files.readString(
                Path.of(System.getProperty("onlyonce.root"), "docs").resolve(page)));
        int blocks = 0;
        while (code.find()) {
            assertThat(source).contains(squeezed(code.group(1)));
            blocks++;
        }
        assertThat(blocks).isPositive();
    }

    private static String squeezed(String code) {
        return code.replaceAll("//[^\n]*", "").replaceAll("\\s", "");
    }

    @Test
    @DisplayName("seal with a new key what an old one still opens")
    void encryption() {
        byte[] oldKey = new byte[16];
        byte[] newKey = new byte[32];
        SqlStore sealed = SqlStore.builder(dataSource)
                .encryption(Encryption.with(2, newKey).and(1, oldKey)) // 16 or 32 random bytes each
                .build();
        try (Onlyonce once = Onlyonce.builder(sealed).build()) {
            Key key = Key.of("acme", "POST /payments", "sealed");
            Outcome<String> outcome = once.execute(key, Fingerprint.of(newKey), Codec.text(), claim -> "done");
            assertThat(outcome).isInstanceOf(Outcome.Executed.class);
        }
    }

    @Test
    @DisplayName("W1 write first and call later")
    void outbox() throws Exception {
        byte[] payload = "990".getBytes(StandardCharsets.UTF_8);
        int payment = 990;
        Onlyonce once = Onlyonce.builder(SqlStore.open(dataSource)).build();
        Outbox outbox = Outbox.builder(once).handler("charge", new Charges()).build();
        outbox.start();

        try (Connection tx = dataSource.getConnection()) {
            tx.setAutoCommit(false);
            Accepted<Reply> accepted =
                    outbox.accept(tx, key, fingerprint, Reply.class, new OutboxCall("charge", payload));
            if (accepted.isNew()) {
                insertPayment(tx, payment);
            }
            tx.commit();
        }
        Optional<Outcome<Reply>> outcome = outbox.await(key, fingerprint, Reply.class, Duration.ofSeconds(2));
        outbox.close();
        while (outbox.deliverDue() > 0) {
            // A slow machine may not have been done within the bound.
        }
        assertThat(outcome).isPresent();
        assertThat(states()).containsExactly("charged 990 time 1");
        once.close();
    }

    /** As the guide shows it; {@code provider} is the outer class's. */
    final class Charges implements DeliveryHandler {
        @Override
        public Delivery deliver(OutboxRow row) throws Exception {
            Reply reply = provider.charge(row.payload(), row.downstreamKey()); // with a time-out
            return reply.declined()
                    ? new Delivery.Refused(reply.id(), encode(reply))
                    : new Delivery.Delivered(reply.id(), encode(reply));
        }

        @Override
        public Duration keyLifetime() {
            return Duration.ofHours(24); // what the provider promises
        }

        @Override
        public void settled(Connection tx, OutboxRow row, Delivery delivery) throws Exception {
            if (delivery instanceof Delivery.Delivered delivered) {
                updatePayment(tx, delivered.providerId()); // in the transaction that settles the entry
            }
        }
    }

    @Test
    @DisplayName("D8 do several things in a row, each once")
    void steps() throws Exception {
        String charge = "ch_1";
        String customer = "ann@example.com";
        for (int attempt = 1; attempt <= 2; attempt++) {
            SqlStore store = SqlStore.open(dataSource);
            Onlyonce once = Onlyonce.builder(store).build();
            Outcome<Refund> outcome = Steps.of(once).execute(key, fingerprint, Refund.class, steps -> {
                String reference = steps.effect("refund", Codec.text(), k -> provider.refund(charge, k));
                Long entry = steps.local("book", Codec.json(Long.class), tx -> book(tx, reference));
                steps.repeatable("notify", Codec.text(), k -> mail.send(customer, reference, k));
                return new Refund(reference, entry);
            });
            Refund refund = new Refund("refunded ch_1", 1L);
            assertThat(
                            outcome instanceof Outcome.Executed<Refund> e
                                    ? e.value()
                                    : ((Outcome.Replayed<Refund>) outcome).value())
                    .isEqualTo(refund);
            once.close();
            store.close();
        }
        assertThat(provider.calls).isEqualTo(2);
        assertThat(states()).containsExactly("refunded ch_1");
    }

    @Test
    @DisplayName("D6 find out about a step in doubt, and go on after it")
    void stepInDoubt() {
        Key refund = Key.of("acme", "POST /refunds", "8e03978e-40d6");
        SqlStore store = SqlStore.open(dataSource);
        Onlyonce once = Onlyonce.builder(store)
                .operation(
                        "POST /refunds",
                        o -> o.reconciler(
                                Steps.reconciler(store, (entry, step, downstreamKey) -> lookUp(step, downstreamKey))))
                .build();
        Flow<String, RuntimeException> flow = steps -> steps.effect("refund", Codec.text(), k -> {
            throw new IllegalStateException("no answer");
        });
        assertThatThrownBy(() -> Steps.of(once).execute(refund, fingerprint, Codec.text(), flow))
                .hasMessage("no answer");
        assertThat(once.operator().reconcile().asked()).isEqualTo(1);
        once.close();
        store.close();
    }

    private static Finding lookUp(String step, String downstreamKey) {
        return new Finding.CannotTell(step + " is not answered for " + downstreamKey);
    }

    @Test
    @DisplayName("N3 apply a message once, in the transaction of its effect")
    void transactions() throws Exception {
        Receipt receipt = new Receipt(990);
        Onlyonce once = Onlyonce.builder(SqlStore.open(dataSource)).build();
        Transactions transactions = Transactions.of(once);
        for (int delivery = 1; delivery <= 2; delivery++) {
            try (Connection connection = dataSource.getConnection()) {
                connection.setAutoCommit(false);
                Outcome<Receipt> outcome = transactions.execute(connection, key, fingerprint, Receipt.class, tx -> {
                    insertPayment(tx, receipt.cents()); // business writes go through tx
                    return receipt;
                });
                connection.commit();
                assertThat(outcome).isInstanceOf(delivery == 1 ? Outcome.Executed.class : Outcome.Replayed.class);
            }
        }
        assertThat(states()).containsExactly("accepted");
        once.close();
    }

    @Test
    @DisplayName("open a file, and a database whose tables are there already")
    void stores() throws SQLException {
        SqlStore.open(dataSource).close();
        SqlStore store =
                SqlStore.builder(dataSource).schema(SchemaMode.VALIDATE).build();
        assertThat(store.schema().status().isCurrent()).isTrue();
        store.close();
        Path entries = folder.resolve("entries.db");
        SqlStore embedded = SqlStore.sqlite(entries);
        embedded.close();
        assertThat(entries).exists();
    }

    @Test
    @DisplayName("F1 compare requests")
    void fingerprints() throws MalformedRequest {
        byte[] bytes = {1, 2};
        byte[] json = "{\"amount\":10,\"sentAt\":1}".getBytes(StandardCharsets.UTF_8);
        byte[] oldSecret = "an old secret of 26 letters".getBytes(StandardCharsets.UTF_8);
        byte[] newSecret = "a new secret of 25 letters".getBytes(StandardCharsets.UTF_8);
        Fingerprinter.Request request =
                new Fingerprinter.Request("POST", "/payments", null, Map.of(), "application/json", json);
        Fingerprint.of(bytes);
        Fingerprint.ofJson(json);

        Fingerprinter payments = Fingerprinter.builder()
                .ignore("/sentAt", "/client/traceId")
                .headers("X-Api-Version")
                .bodyBytesMax(64 * 1024)
                .secret(2, newSecret)
                .previousSecret(1, oldSecret)
                .build();
        payments.fingerprint(request);
        byte[] later = "{\"sentAt\":2,\"amount\":1e1}".getBytes(StandardCharsets.UTF_8);
        Fingerprinter.Request retry =
                new Fingerprinter.Request("POST", "/payments", null, Map.of(), "application/json", later);
        assertThat(payments.fingerprint(retry).matches(payments.fingerprint(request)))
                .isTrue();
    }

    record Receipt(int cents) {}

    record Refund(String reference, Long entry) {}

    record Reply(String id, boolean declined) {}

    /** Counts what it is asked for. */
    private static final class Provider {
        private int calls;

        synchronized Reply charge(byte[] payload, String downstreamKey) {
            calls++;
            return new Reply(
                    "charged " + new String(payload, StandardCharsets.UTF_8) + " time " + calls,
                    downstreamKey.isEmpty());
        }

        synchronized String refund(String charge, String downstreamKey) {
            calls++;
            return downstreamKey.isEmpty() ? "no key" : "refunded " + charge;
        }

        synchronized String send(String customer, String reference, String downstreamKey) {
            calls++;
            return customer + reference + downstreamKey;
        }
    }

    private static byte[] encode(Reply reply) {
        return Codec.json(Reply.class).encode(reply);
    }

    private static void insertPayment(Connection tx, int amount) throws SQLException {
        try (PreparedStatement insert = tx.prepareStatement("INSERT INTO payment VALUES (?, 'accepted')")) {
            insert.setInt(1, amount);
            insert.executeUpdate();
        }
    }

    private static void updatePayment(Connection tx, String state) throws SQLException {
        try (PreparedStatement update = tx.prepareStatement("UPDATE payment SET state = ?")) {
            update.setString(1, state);
            update.executeUpdate();
        }
    }

    private static Long book(Connection tx, String reference) throws SQLException {
        insertPayment(tx, -990);
        updatePayment(tx, reference);
        return 1L;
    }

    private List<String> states() throws SQLException {
        List<String> states = new ArrayList<>();
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT state FROM payment")) {
            while (row.next()) {
                states.add(row.getString(1));
            }
        }
        return states;
    }
}
