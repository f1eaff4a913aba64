package dev.onlyonce.sql;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.transactions.TransactionConflict;
import dev.onlyonce.sql.transactions.Transactions;
import dev.onlyonce.testkit.KillStorm;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** A node of the storm: executes every key, leased or in a transaction, in an order of its own, and ends when all are decided. */
final class StormNode {
    static final int KEYS = 200;
    static final String LEASED = "POST /leased";
    static final String TOGETHER = "POST /together";
    private static final Fingerprint REQUEST = Fingerprint.of(new byte[] {1});

    private StormNode() {}

    /** Takes the URL of the database and a seed. */
    public static void main(String[] arguments) {
        List<Key> keys = new ArrayList<>(keys());
        Collections.shuffle(keys, new Random(Long.parseLong(arguments[1])));
        try (HikariDataSource pool = Pools.open(arguments[0], 6);
                SqlStore store = SqlStore.open(pool);
                Onlyonce once = Onlyonce.builder(store)
                        .lease(Duration.ofSeconds(1))
                        .sweepEvery(Duration.ofMillis(200))
                        .build()) {
            Transactions transactions = Transactions.of(once);
            KillStorm.work(once, keys, key -> {
                try {
                    if (key.operation().equals(LEASED)) {
                        once.execute(key, REQUEST, String.class, claim -> effect(pool, key));
                    } else {
                        transactions.execute(key, REQUEST, String.class, tx -> effect(tx, key));
                    }
                } catch (SQLException | TransactionConflict e) {
                    // The server was killed, or rolled back: the key's turn comes again, unless its outcome is unknown.
                }
            });
        }
    }

    private static String effect(HikariDataSource pool, Key key) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            return effect(connection, key);
        }
    }

    private static String effect(Connection connection, Key key) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO effect (name) VALUES (?)")) {
            insert.setString(1, key.value());
            insert.executeUpdate();
            return "done";
        }
    }

    static List<Key> keys() {
        List<Key> keys = new ArrayList<>();
        for (int i = 0; i < KEYS; i++) {
            keys.add(Key.of("acme", i % 2 == 0 ? LEASED : TOGETHER, "key-" + i));
        }
        return keys;
    }
}
