package dev.onlyonce.testkit.messages;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A table with the effects of messages: a row for each, in the order in which they happened. As thread-safe as its database. */
public final class EffectTable {
    private static final int SHOWN_MAX = 100;

    private final DataSource database;

    /** The table of a database, whoever creates it. */
    public EffectTable(DataSource database) {
        this.database = database;
    }

    /** Creates the table. */
    public static EffectTable create(DataSource database) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE effect (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body varchar("
                    + SHOWN_MAX + ") NOT NULL)");
        }
        return new EffectTable(database);
    }

    /** An effect: a row, in the message's transaction. Of a long body it has the first 100 characters. */
    public static void write(@Nullable Connection transaction, String body) throws SQLException {
        try (PreparedStatement insert =
                requireNonNull(transaction).prepareStatement("INSERT INTO effect (body) VALUES (?)")) {
            insert.setString(1, body.length() > SHOWN_MAX ? body.substring(0, SHOWN_MAX) : body);
            insert.executeUpdate();
        }
    }

    /** The bodies that took effect, in their order. */
    public List<String> bodies() {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT body FROM effect ORDER BY seq")) {
            List<String> bodies = new ArrayList<>();
            while (row.next()) {
                bodies.add(requireNonNull(row.getString(1)));
            }
            return bodies;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** How many bodies took effect. */
    public int count() {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT count(*) FROM effect")) {
            row.next();
            return row.getInt(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Checks that messages took effect once each, and in the order of their keys. Their bodies are {@code key:number}, with the numbers
     * of each key from 0 on.
     *
     * @param messages how many there are
     * @param seed shown if one is missing, there twice, or out of order
     */
    public void checkOnceInOrder(int messages, long seed) {
        List<String> bodies = bodies();
        assertThat(bodies).as("seed %s", seed).hasSize(messages).doesNotHaveDuplicates();
        Map<String, Integer> next = new HashMap<>();
        for (String body : bodies) {
            String[] parts = body.split(":", 2);
            int expected = next.merge(parts[0], 1, Integer::sum) - 1;
            assertThat(Integer.parseInt(parts[1]))
                    .as("order of %s, seed %s", parts[0], seed)
                    .isEqualTo(expected);
        }
    }
}
