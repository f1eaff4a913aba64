package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.transactions.TransactionConflict;
import dev.onlyonce.sql.transactions.Transactions;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreRejected;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A Galera cluster that somebody has started. Not part of the build: {@code -DONLYONCE_GALERA=host:port,host:port,host:port} names its
 * nodes; user {@code onlyonce} with password {@code onlyonce} may create databases there.
 */
@DisplayName("Galera")
final class Galera {
    private static final int CALLERS = 16;
    private static final int KEYS = 1_500;
    private static final String WAITS = "&sessionVariables=wsrep_sync_wait=7";
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    /** Before a caller that was not answered calls again. */
    private static final long PAUSE = Duration.ofMillis(5).toNanos();

    private static final Fingerprint REQUEST = Fingerprint.of("request".getBytes(StandardCharsets.UTF_8));
    private static final Logger log = LoggerFactory.getLogger(Galera.class);
    private static final List<String> HOSTS =
            List.of(System.getProperty("ONLYONCE_GALERA", "").split(","));

    private final Map<Key, AtomicInteger> runs = new ConcurrentHashMap<>();
    private final AtomicInteger acknowledged = new AtomicInteger();
    private final AtomicInteger troubles = new AtomicInteger();

    @BeforeAll
    static void shop() throws SQLException {
        assertThat(HOSTS).as("-DONLYONCE_GALERA names the nodes").hasSizeGreaterThan(1);
        try (HikariDataSource pool = pool("jdbc:mariadb://" + HOSTS.get(0) + "/?user=onlyonce&password=onlyonce")) {
            SqlClock.execute(pool, "DROP DATABASE IF EXISTS shop");
            SqlClock.execute(pool, "CREATE DATABASE shop");
            SqlClock.execute(pool, "CREATE TABLE shop.effect (id VARCHAR(100), number SERIAL, PRIMARY KEY (number))");
        }
        try (HikariDataSource pool = pool(url(HOSTS.get(0), WAITS))) {
            SqlStore.open(pool).close();
        }
    }

    @Test
    @DisplayName("E2 a URL of several nodes is refused unless its sessions wait, a URL of one node is taken")
    void opening() {
        try (HikariDataSource several = pool(url("loadbalance:", String.join(",", HOSTS), ""));
                HikariDataSource sequential = pool(url("sequential:", String.join(",", HOSTS), ""));
                HikariDataSource one = pool(url(HOSTS.get(0), ""))) {
            assertThatThrownBy(() -> SqlStore.open(several))
                    .isInstanceOf(StoreRejected.class)
                    .hasMessageContaining("wsrep_sync_wait");
            assertThatThrownBy(() -> SqlStore.open(sequential)).isInstanceOf(StoreRejected.class);
            SqlStore.open(one).close();
        }
    }

    @Test
    @DisplayName("E4 connections to all nodes lose no claim and no settlement when their sessions wait")
    void balanced() throws Exception {
        try (HikariDataSource pool = pool(url("loadbalance:", String.join(",", HOSTS), WAITS));
                SqlStore store = SqlStore.open(pool);
                Onlyonce once = Onlyonce.builder(store).build()) {
            run(List.of(once), "balanced");
            check("balanced", pool, store);
        }
    }

    @Test
    @DisplayName("C1 application nodes on a node of the cluster each race for the same keys: each key runs once")
    void raced() throws Exception {
        List<AutoCloseable> opened = new ArrayList<>();
        try {
            List<Onlyonce> nodes = new ArrayList<>();
            for (String host : HOSTS) {
                HikariDataSource pool = pool(url(host, WAITS));
                opened.add(0, pool);
                SqlStore store = SqlStore.open(pool);
                opened.add(0, store);
                Onlyonce once = Onlyonce.builder(store).build();
                opened.add(0, once);
                nodes.add(once);
            }
            run(nodes, "raced");
            check("raced", (HikariDataSource) opened.get(2), (SqlStore) opened.get(1));
        } finally {
            for (AutoCloseable each : opened) {
                each.close();
            }
        }
    }

    private void run(List<Onlyonce> nodes, String prefix) throws Exception {
        ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
        try {
            List<Future<?>> running = new ArrayList<>();
            AtomicInteger next = new AtomicInteger();
            for (int caller = 0; caller < CALLERS; caller++) {
                Onlyonce once = nodes.get(caller % nodes.size());
                running.add(callers.submit(() -> {
                    // Each key twice and more at the same time: from callers that have not got further yet.
                    for (int i = next.getAndIncrement(); i / nodes.size() < KEYS; i = next.getAndIncrement()) {
                        answer(once, prefix, i / nodes.size());
                    }
                }));
            }
            for (Future<?> each : running) {
                each.get();
            }
        } finally {
            callers.shutdownNow();
        }
    }

    private void answer(Onlyonce once, String prefix, int number) {
        boolean leased = number % 2 == 0;
        Key key = Key.of("tenant", leased ? "POST /payments" : "POST /orders", prefix + number);
        Object last = null;
        for (long end = System.nanoTime() + PATIENCE.toNanos(); System.nanoTime() < end; LockSupport.parkNanos(PAUSE)) {
            try {
                Outcome<String> outcome = leased
                        ? once.execute(key, REQUEST, Codec.text(), claim -> {
                            runs.computeIfAbsent(key, k -> new AtomicInteger()).incrementAndGet();
                            return key.value();
                        })
                        : Transactions.of(once).execute(key, REQUEST, Codec.text(), tx -> {
                            insert(tx, key);
                            return key.value();
                        });
                if (outcome instanceof Outcome.Executed || outcome instanceof Outcome.Replayed) {
                    acknowledged.incrementAndGet();
                    return;
                }
                last = outcome;
            } catch (StoreException | TransactionConflict | SQLException e) {
                log.debug("{}", key, e);
                troubles.incrementAndGet();
                last = e;
            }
        }
        throw new AssertionError("No answer for " + key + ", last: " + last);
    }

    private void check(String prefix, HikariDataSource pool, SqlStore store) throws SQLException {
        assertThat(store.list(EntryQuery.all(10).in(State.UNKNOWN))).isEmpty();
        assertThat(runs.values()).as("runs of a leased action").allMatch(count -> count.get() == 1);
        Map<String, Integer> effects = effects(pool, prefix);
        assertThat(effects.values()).as("transactional effects of a key").allMatch(count -> count == 1);
        assertThat(runs).hasSize(KEYS / 2);
        assertThat(effects).hasSize(KEYS / 2);
        log.warn(
                "{}: {} answers for {} keys, {} calls met trouble; 0 twice, 0 lost",
                prefix,
                acknowledged,
                KEYS,
                troubles);
    }

    private static Map<String, Integer> effects(HikariDataSource pool, String prefix) throws SQLException {
        Map<String, Integer> effects = new ConcurrentHashMap<>();
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT id FROM effect WHERE id LIKE '" + prefix + "%'")) {
            while (row.next()) {
                effects.merge(row.getString(1), 1, Integer::sum);
            }
        }
        return effects;
    }

    private static void insert(Connection tx, Key key) throws SQLException {
        try (PreparedStatement insert = tx.prepareStatement("INSERT INTO effect (id) VALUES (?)")) {
            insert.setString(1, key.value());
            insert.executeUpdate();
        }
    }

    private static String url(String host, String rest) {
        return url("", host, rest);
    }

    private static String url(String mode, String hosts, String rest) {
        return "jdbc:mariadb:" + mode + "//" + hosts + "/shop?user=onlyonce&password=onlyonce" + rest;
    }

    private static HikariDataSource pool(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(CALLERS + 5);
        config.setConnectionTimeout(Duration.ofSeconds(10).toMillis());
        return new HikariDataSource(config);
    }
}
