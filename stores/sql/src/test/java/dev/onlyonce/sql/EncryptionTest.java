package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.Reconciler;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.DeliveryHandler;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.sql.outbox.OutboxCall;
import dev.onlyonce.sql.outbox.OutboxRow;
import dev.onlyonce.sql.steps.Steps;
import dev.onlyonce.store.Encryption;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreUnavailable;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Order(1)
@DisplayName("Encrypted results")
final class EncryptionTest {
    private static final Fingerprint REQUEST = Fingerprint.of(new byte[] {1});
    private static final byte[] KEY_1 = new byte[32];
    private static final byte[] KEY_2 = new byte[16];

    @TempDir
    private Path folder;

    private final AtomicInteger effects = new AtomicInteger();

    private String secret() {
        return "secret " + effects.incrementAndGet();
    }

    private static Key key(String value) {
        return Key.of("acme", "POST /payments", value);
    }

    private static Encryption first() {
        return Encryption.with(1, KEY_1);
    }

    private static SqlStore open(DataSource dataSource, Encryption encryption) {
        return SqlStore.builder(dataSource).encryption(encryption).build();
    }

    private static Onlyonce engine(SqlStore store) {
        return Onlyonce.builder(store).cacheBytesMax(0).build();
    }

    private Outcome<String> leased(SqlStore store, String key) {
        try (Onlyonce once = engine(store)) {
            return once.execute(key(key), REQUEST, Codec.text(), claim -> secret());
        }
    }

    private Outcome<String> transactional(SqlStore store, String key) {
        return Ways.transactions(store).execute(key(key), REQUEST, Codec.text(), connection -> secret());
    }

    /** What stands in the database, in every column that holds a result. */
    private static List<byte[]> stored(DataSource dataSource) throws SQLException {
        List<byte[]> all = new ArrayList<>();
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            for (String query : List.of(
                    "SELECT result FROM onlyonce_entry",
                    "SELECT result FROM onlyonce_step",
                    "SELECT answer FROM onlyonce_outbox")) {
                try (ResultSet rows = statement.executeQuery(query)) {
                    while (rows.next()) {
                        byte[] result = rows.getBytes(1);
                        if (result != null) {
                            all.add(result);
                        }
                    }
                }
            }
        }
        return all;
    }

    private static void assertSealed(DataSource dataSource, int results) throws SQLException {
        assertThat(stored(dataSource)).hasSize(results).allSatisfy(result -> {
            assertThat(Encryption.isSealed(result)).isTrue();
            assertThat(new String(result, StandardCharsets.ISO_8859_1)).doesNotContain("secret");
        });
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("of the leased and the transactional way cannot be read in the database, and are replayed")
    void leasedAndTransactional(TestDatabase database) throws SQLException {
        try (HikariDataSource dataSource = database.create(folder)) {
            SqlStore store = open(dataSource, first());
            assertThat(leased(store, "leased")).isInstanceOf(Outcome.Executed.class);
            assertThat(transactional(store, "transactional")).isInstanceOf(Outcome.Executed.class);
            assertSealed(dataSource, 2);
            for (String key : List.of("leased", "transactional")) {
                assertThat(replayed(leased(store, key)))
                        .isEqualTo(replayed(transactional(store, key)))
                        .startsWith("secret");
            }
            assertThat(effects).hasValue(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("that the reconciler found, and of steps, cannot be read in the database, and are handed on")
    void reconciledAndStepped(TestDatabase database) throws Exception {
        try (HikariDataSource dataSource = database.create(folder)) {
            SqlStore store = open(dataSource, first());
            Reconciler finds = entry -> new Reconciler.Finding.Found("secret found".getBytes(StandardCharsets.UTF_8));
            try (Onlyonce once = Onlyonce.builder(store)
                    .cacheBytesMax(0)
                    .reconciler("POST /payments", finds)
                    .build()) {
                assertThatThrownBy(() -> once.execute(key("lost"), REQUEST, Codec.text(), claim -> {
                            throw new IllegalStateException("reset");
                        }))
                        .hasMessage("reset");
                once.operator().reconcile();
                assertThat(replayed(leased(store, "lost"))).isEqualTo("secret found");
            }
            try (Onlyonce once = engine(store)) {
                Steps stepped = Steps.of(once);
                assertThatThrownBy(() -> flow(stepped, true)).isInstanceOf(NotExecuted.class);
                assertSealed(dataSource, 2);
                assertThat(flow(stepped, false)).isInstanceOf(Outcome.Executed.class);
            }
            assertThat(effects).as("the first step is not run again").hasValue(1);
        }
    }

    private Outcome<String> flow(Steps stepped, boolean failing) {
        return stepped.execute(key("steps"), REQUEST, Codec.text(), steps -> {
            String one = steps.effect("one", Codec.text(), downstream -> secret());
            if (failing) {
                throw new NotExecuted("refused");
            }
            return one;
        });
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("W3 that a provider has answered cannot be read in the outbox, and finish without a second call")
    void outbox(TestDatabase database) throws Exception {
        try (HikariDataSource dataSource = database.create(folder)) {
            SqlStore store = open(dataSource, first());
            List<String> told = new ArrayList<>();
            DeliveryHandler provider = new DeliveryHandler() {
                @Override
                public Delivery deliver(OutboxRow row) {
                    return new Delivery.Delivered("ch-1", secret().getBytes(StandardCharsets.UTF_8));
                }

                @Override
                public void settled(Connection transaction, OutboxRow row, Delivery delivery) {
                    told.add(new String(((Delivery.Delivered) delivery).result(), StandardCharsets.UTF_8));
                    if (told.size() == 1) {
                        throw new IllegalStateException("the business update fails at first");
                    }
                }
            };
            try (Onlyonce once = engine(store);
                    Outbox outbox = Outbox.builder(once)
                            .handler("charge", provider)
                            .backoff(java.time.Duration.ofMillis(1), java.time.Duration.ofMillis(1))
                            .build()) {
                try (Connection connection = dataSource.getConnection()) {
                    connection.setAutoCommit(false);
                    outbox.accept(
                            connection, key("queued"), REQUEST, Codec.text(), new OutboxCall("charge", new byte[0]));
                    connection.commit();
                }
                outbox.deliverDue();
                assertSealed(dataSource, 1);
                while (told.size() < 2) {
                    outbox.deliverDue();
                }
                assertSealed(dataSource, 1);
                assertThat(replayed(leased(store, "queued"))).isEqualTo("secret 1");
            }
            assertThat(told).containsOnly("secret 1");
            assertThat(effects).hasValue(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("R8 those of an earlier key, and those from before encryption, are still replayed")
    void rotation(TestDatabase database) throws SQLException {
        try (HikariDataSource dataSource = database.create(folder)) {
            leased(SqlStore.open(dataSource), "plain");
            leased(open(dataSource, first()), "old");
            SqlStore rotated = open(dataSource, Encryption.with(2, KEY_2).and(1, KEY_1));
            leased(rotated, "new");
            assertThat(List.of(
                            replayed(leased(rotated, "plain")),
                            replayed(leased(rotated, "old")),
                            replayed(leased(rotated, "new"))))
                    .containsExactly("secret 1", "secret 2", "secret 3");
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("that cannot be opened are refused with the key's id, run nothing again, and stay as they are")
    void wrongKey(TestDatabase database) throws SQLException {
        try (HikariDataSource dataSource = database.create(folder)) {
            leased(open(dataSource, first()), "k-1");
            byte[] before = stored(dataSource).get(0);
            byte[] otherKey = KEY_1.clone();
            otherKey[0] = 1;
            for (SqlStore store : List.of(
                    open(dataSource, Encryption.with(2, KEY_2)),
                    open(dataSource, Encryption.with(1, otherKey)),
                    SqlStore.open(dataSource))) {
                assertThatThrownBy(() -> leased(store, "k-1"))
                        .isInstanceOf(StoreUnavailable.class)
                        .hasMessageContaining("sealed with key 1");
                assertThatThrownBy(() -> transactional(store, "k-1")).isInstanceOf(StoreException.class);
                Entry entry = store.find(List.of(key("k-1").entryId())).get(0).orElseThrow();
                assertThat(entry.state()).isEqualTo(State.COMPLETED);
            }
            assertThat(stored(dataSource)).containsExactly(before);
            assertThat(effects).hasValue(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("of steps and providers are not taken for plain ones by a node without keys, and nothing runs again")
    void noKey(TestDatabase database) throws Exception {
        try (HikariDataSource dataSource = database.create(folder)) {
            SqlStore sealing = open(dataSource, first());
            SqlStore plain = SqlStore.open(dataSource);
            try (Onlyonce once = engine(sealing)) {
                Steps stepped = Steps.of(once);
                assertThatThrownBy(() -> flow(stepped, true)).isInstanceOf(NotExecuted.class);
            }
            try (Onlyonce once = engine(plain)) {
                Steps stepped = Steps.of(once);
                assertThatThrownBy(() -> flow(stepped, false)).isInstanceOf(StoreUnavailable.class);
            }
            assertThat(effects).hasValue(1);

            List<Delivery> told = new ArrayList<>();
            try (Onlyonce sealed = engine(sealing);
                    Onlyonce keyless = engine(plain);
                    Outbox answering = charging(sealed, told, true);
                    Outbox without = charging(keyless, told, false)) {
                try (Connection connection = dataSource.getConnection()) {
                    connection.setAutoCommit(false);
                    answering.accept(
                            connection, key("queued"), REQUEST, Codec.text(), new OutboxCall("charge", new byte[0]));
                    connection.commit();
                }
                answering.deliverDue();
                for (int i = 0; i < 20; i++) {
                    without.deliverDue();
                }
            }
            Entry entry = sealing.find(List.of(key("queued").entryId())).get(0).orElseThrow();
            assertThat(entry.state()).isEqualTo(State.UNKNOWN);
            assertThat(told).as("only the node that has the key").hasSize(1);
            assertThat(effects).hasValue(2);
        }
    }

    private Outbox charging(Onlyonce once, List<Delivery> told, boolean failing) {
        return Outbox.builder(once)
                .handler("charge", new DeliveryHandler() {
                    @Override
                    public Delivery deliver(OutboxRow row) {
                        return new Delivery.Delivered("ch-1", secret().getBytes(StandardCharsets.UTF_8));
                    }

                    @Override
                    public void settled(Connection transaction, OutboxRow row, Delivery delivery) {
                        told.add(delivery);
                        if (failing) {
                            throw new IllegalStateException("the business update fails");
                        }
                    }
                })
                .backoff(java.time.Duration.ofMillis(1), java.time.Duration.ofMillis(1))
                .build();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("that somebody has moved to another entry are not shown to its client, nor does it run again")
    void swapped(TestDatabase database) throws SQLException {
        try (HikariDataSource dataSource = database.create(folder)) {
            SqlStore store = open(dataSource, first());
            leased(store, "mine");
            leased(store, "theirs");
            SqlClock.execute(
                    dataSource,
                    "CREATE TABLE copied AS SELECT key_, result FROM onlyonce_entry WHERE fingerprint_version > 0",
                    "UPDATE onlyonce_entry SET result = (SELECT c.result FROM copied c WHERE c.key_ <> onlyonce_entry.key_)"
                            + " WHERE fingerprint_version > 0");
            for (String key : List.of("mine", "theirs")) {
                assertThatThrownBy(() -> leased(store, key)).isInstanceOf(StoreUnavailable.class);
            }
            assertThat(effects).hasValue(2);
        }
    }

    private static String replayed(Outcome<String> outcome) {
        assertThat(outcome).isInstanceOf(Outcome.Replayed.class);
        return ((Outcome.Replayed<String>) outcome).value();
    }

    static {
        Arrays.fill(KEY_1, (byte) 7);
        Arrays.fill(KEY_2, (byte) 8);
    }
}
