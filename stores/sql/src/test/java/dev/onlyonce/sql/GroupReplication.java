package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.transactions.TransactionConflict;
import dev.onlyonce.sql.transactions.Transactions;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.testservers.MySqlGroup;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Three servers, and the primary is killed under load. Not part of the build: {@code mvn -Pgroup-replication} downloads half a
 * gigabyte for it.
 */
@DisplayName("MySQL Group Replication")
final class GroupReplication {
    private static final int CALLERS = 8;
    private static final Duration BEFORE = Duration.ofSeconds(5);
    private static final Duration AFTER = Duration.ofSeconds(15);
    /** Before a caller that met an error calls again. */
    private static final Duration PAUSE = Duration.ofMillis(200);

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Fingerprint REQUEST = Fingerprint.of("request".getBytes(StandardCharsets.UTF_8));
    private static final Logger log = LoggerFactory.getLogger(GroupReplication.class);

    /** How often each key's leased action ran. */
    private final Map<Key, AtomicInteger> runs = new ConcurrentHashMap<>();

    private final ConcurrentLinkedQueue<Key> acknowledged = new ConcurrentLinkedQueue<>();
    private final Set<Key> failed = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean over = new AtomicBoolean();

    @Test
    @DisplayName("a killed primary costs no acknowledged key, nothing runs twice, and writes go on")
    void killedPrimary() throws Exception {
        ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
        try (MySqlGroup group = MySqlGroup.start(Path.of(System.getProperty("mysql.home")), 3)) {
            group.execute("CREATE DATABASE shop");
            try (HikariDataSource pool = pool(group);
                    SqlStore store = SqlStore.open(pool);
                    Onlyonce once = Onlyonce.builder(store).build()) {
                SqlClock.execute(pool, "CREATE TABLE effect (id VARCHAR(100), number SERIAL, PRIMARY KEY (number))");
                List<Future<?>> running = new ArrayList<>();
                for (int i = 0; i < CALLERS; i++) {
                    String caller = (i % 2 == 0 ? "leased-" : "transactional-") + i + "-";
                    running.add(callers.submit(() -> load(once, caller)));
                }
                LockSupport.parkNanos(BEFORE.toNanos());
                int before = acknowledged.size();
                long killed = System.nanoTime();
                group.killPrimary();
                group.awaitPrimary();
                Duration chosen = Duration.ofNanos(System.nanoTime() - killed);
                int gone = acknowledged.size();
                while (acknowledged.size() == gone) {
                    assertThat(System.nanoTime() - killed).isLessThan(PATIENCE.toNanos());
                    LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
                }
                Duration back = Duration.ofNanos(System.nanoTime() - killed);
                LockSupport.parkNanos(AFTER.toNanos());
                over.set(true);
                for (Future<?> load : running) {
                    load.get();
                }
                check(once, store, pool);
                log.warn(
                        "{} keys acknowledged before the kill, {} after; {} keys met an error; another primary after {} ms,"
                                + " writes again after {} ms; 0 lost, 0 run twice",
                        before,
                        acknowledged.size() - before,
                        failed.size(),
                        chosen.toMillis(),
                        back.toMillis());
                assertThat(before).isPositive();
                assertThat(acknowledged.size() - before).isPositive();
                assertThat(failed)
                        .as("calls under way when the primary was killed")
                        .isNotEmpty();
            }
        } finally {
            over.set(true);
            callers.shutdownNow();
        }
    }

    /**
     * MariaDB's driver tries the members in any order; a secondary is refused, so that the pool asks for another. When the
     * primary dies, the driver moves some connections to a secondary by itself: the store has them evicted.
     */
    private static HikariDataSource pool(MySqlGroup group) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:mariadb:loadbalance://" + group.hosts() + "/shop?user=root&connectTimeout=2000");
        config.setConnectionInitSql("SELECT IF(@@GLOBAL.super_read_only, (SELECT 1 UNION SELECT 2), 1)");
        config.setConnectionTimeout(3_000);
        config.setMaximumPoolSize(CALLERS + 5);
        config.setInitializationFailTimeout(PATIENCE.toMillis());
        return new HikariDataSource(config);
    }

    private void load(Onlyonce once, String caller) {
        Transactions transactions = Transactions.of(once);
        for (int i = 0; !over.get(); i++) {
            Key key = key(caller + i);
            for (int tries = 0; tries < 3 && !over.get(); tries++) {
                try {
                    Outcome<String> outcome = call(once, transactions, key);
                    if (outcome instanceof Outcome.Executed || outcome instanceof Outcome.Replayed) {
                        acknowledged.add(key);
                        break;
                    }
                } catch (StoreException | TransactionConflict | SQLException e) {
                    log.debug("{}", key, e);
                    failed.add(key);
                    LockSupport.parkNanos(PAUSE.toNanos());
                }
            }
        }
    }

    private static Key key(String value) {
        return Key.of("tenant", value.startsWith("leased") ? "POST /payments" : "POST /orders", value);
    }

    private Outcome<String> call(Onlyonce once, Transactions transactions, Key key) throws SQLException {
        if (key.operation().equals("POST /payments")) {
            return once.execute(key, REQUEST, Codec.text(), claim -> {
                runs.computeIfAbsent(key, k -> new AtomicInteger()).incrementAndGet();
                return key.value();
            });
        }
        return transactions.execute(key, REQUEST, Codec.text(), tx -> {
            insert(tx, key);
            return key.value();
        });
    }

    private static void insert(Connection tx, Key key) throws SQLException {
        try (PreparedStatement insert = tx.prepareStatement("INSERT INTO effect (id) VALUES (?)")) {
            insert.setString(1, key.value());
            insert.executeUpdate();
        }
    }

    private void check(Onlyonce once, SqlStore store, HikariDataSource pool) throws SQLException {
        for (Key key : acknowledged) {
            assertThat(store.find(List.of(key.entryId())).get(0))
                    .as("the entry of %s", key)
                    .hasValueSatisfying(
                            entry -> assertThat(entry.state().isAnswered()).isTrue());
        }
        Transactions transactions = Transactions.of(once);
        for (Key key : List.copyOf(failed)) {
            // Whatever became of it, asking again must not run it a second time.
            try {
                call(once, transactions, key);
            } catch (StoreException | TransactionConflict e) {
                log.debug("{}", key, e);
            }
        }
        assertThat(runs.values()).as("runs of a leased action").allMatch(count -> count.get() == 1);
        Map<String, Integer> effects = effects(pool);
        assertThat(effects.values()).as("transactional effects of a key").allMatch(count -> count == 1);
        for (Key key : acknowledged) {
            if (key.operation().equals("POST /orders")) {
                assertThat(effects).containsKey(key.value());
            }
        }
    }

    private static Map<String, Integer> effects(HikariDataSource pool) throws SQLException {
        Map<String, Integer> effects = new HashMap<>();
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT id FROM effect")) {
            while (row.next()) {
                effects.merge(row.getString(1), 1, Integer::sum);
            }
        }
        return effects;
    }
}
