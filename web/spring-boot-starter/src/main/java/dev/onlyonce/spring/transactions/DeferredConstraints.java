package dev.onlyonce.spring.transactions;

import dev.onlyonce.store.Time;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Checks constraints at the end of the handler that PostgreSQL would check at the commit: then what it refuses is the application's
 * exception, for its own advice to answer. Costs a statement where there are such constraints, and looks for them once a minute.
 */
final class DeferredConstraints {
    private static final String ANY = "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_constraint WHERE condeferrable)";
    private static final String CHECK = "SET CONSTRAINTS ALL IMMEDIATE";
    private static final long LOOK_EVERY_NANOS = Duration.ofMinutes(1).toNanos();

    private final JdbcTemplate jdbc;
    private final Time time;
    private volatile @Nullable Seen seen;

    /** Whether there were any, and when. */
    private record Seen(boolean any, long nanos) {}

    DeferredConstraints(DataSource dataSource, Time time) {
        this.jdbc = new JdbcTemplate(dataSource);
        this.time = time;
    }

    /** In the current transaction; throws what the database refuses. */
    void check() {
        try {
            if (any()) {
                jdbc.execute(CHECK);
            }
        } catch (DataAccessException e) {
            if (!EntryTransactions.isAborted(e)) {
                throw e;
            }
            // An earlier statement has failed, and whoever records the result finds out.
        }
    }

    private boolean any() {
        Seen last = seen;
        long now = time.nanos();
        if (last != null && now - last.nanos < LOOK_EVERY_NANOS) {
            return last.any;
        }
        boolean any = isPostgres() && Boolean.TRUE.equals(jdbc.queryForObject(ANY, Boolean.class));
        seen = new Seen(any, now);
        return any;
    }

    private boolean isPostgres() {
        return "PostgreSQL".equals(jdbc.execute((ConnectionCallback<String>)
                connection -> connection.getMetaData().getDatabaseProductName()));
    }
}
