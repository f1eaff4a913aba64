package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.internal.connections.Connections;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.StoreBusy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Leases that end later than any lease can: the clock went ahead and came back (it was set, or a server with another clock took
 * over), and its claims would be stuck for as long as it was wrong. They end a lease from now instead, so that a living owner
 * renews in time, and a dead one is swept.
 */
record FarLeases(SqlDialect database, Connections connections) {
    private static final int ROWS = 500;
    /** Longer leases of other operations may end later than those that a short jump of the clock has made too long. */
    static final int LATEST_ROWS = 100;

    /** How many locked entries a sweep waits for. */
    private static final int LOCKED_MAX = 2;

    /** A pending entry of the outbox may have a longer life than any lease: it is left alone. */
    private static final String FAR = """
            lease_until > {now} + lease_us AND (state = 2 OR (state = 1 AND lease_until <= created_at + 86400000000))""";

    private static final String FIND = "SELECT tenant, space, key_ FROM onlyonce_entry WHERE lease_until > {now} AND "
            + FAR + " ORDER BY lease_until DESC LIMIT ?";

    /** Whether there is one among the leases that end last. Reads no others, so that every sweep can afford it. */
    static final String LATEST =
            "SELECT count(*) FROM (SELECT lease_until, lease_us, state, created_at FROM onlyonce_entry"
                    + " WHERE lease_until > {now} ORDER BY lease_until DESC LIMIT ?) AS latest WHERE " + FAR;

    private static final String SHORTEN = "UPDATE onlyonce_entry SET lease_until = {now} + lease_us"
            + " WHERE tenant = ? AND space = ? AND key_ = ? AND " + FAR;

    /** The statements, with a name for each. */
    static Map<String, String> all() {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("sweep: find far leases", FIND);
        all.put("sweep: shorten a far lease", SHORTEN);
        return all;
    }

    /** Reads every entry under way, so it is for the start, for a clock that went back, and for a far lease that was seen. */
    void shorten() {
        Columns columns = Columns.of(database.kind());
        List<EntryId> far;
        int shortened;
        int locked = 0;
        do {
            far = connections.read(c -> database.bounded(c, bounded -> find(bounded, columns)));
            shortened = 0;
            for (EntryId id : far) {
                try {
                    shortened += connections.write(c -> database.bounded(c, bounded -> shorten(bounded, columns, id)));
                } catch (StoreBusy e) {
                    // Somebody is at work on it. The rest is for the next sweep: this one must not wait for each of
                    // them.
                    locked++;
                    if (locked == LOCKED_MAX) {
                        return;
                    }
                }
            }
        } while (far.size() == ROWS && shortened > 0);
    }

    private List<EntryId> find(Connection connection, Columns columns) throws SQLException {
        try (PreparedStatement statement = database.prepare(connection, database.sql(FIND))) {
            statement.setInt(1, ROWS);
            List<EntryId> found = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.add(StoredEntry.id(row, 1, columns));
                }
            }
            return found;
        }
    }

    private int shorten(Connection connection, Columns columns, EntryId id) throws SQLException {
        try (PreparedStatement statement = database.prepare(connection, database.sql(SHORTEN))) {
            Binding.texts(columns, id.tenant(), id.scope(), id.key()).bind(statement, 1);
            return statement.executeUpdate();
        }
    }
}
