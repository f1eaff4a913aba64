package dev.onlyonce.cassandra;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.Statement;
import dev.onlyonce.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The session with the cluster, and how sure every request has to be.
 *
 * @param level how many replicas an ordinary read or write waits for; always a majority, so that reads see what was written
 * @param serial among whom lightweight transactions are ordered
 */
record Link(CqlSession session, ConsistencyLevel level, ConsistencyLevel serial) {

    /** Sends a lightweight transaction. */
    CompletableFuture<AsyncResultSet> transaction(Statement<?> statement) {
        return send(statement.setConsistencyLevel(level).setSerialConsistencyLevel(serial));
    }

    /** Sends an ordinary read or write. */
    CompletableFuture<AsyncResultSet> request(Statement<?> statement) {
        return send(statement.setConsistencyLevel(level));
    }

    private CompletableFuture<AsyncResultSet> send(Statement<?> statement) {
        try {
            return session.executeAsync(statement).toCompletableFuture();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Reads all rows, page by page. */
    List<Row> rows(Statement<?> statement) {
        try {
            return all(request(statement).join());
        } catch (RuntimeException e) {
            throw Failures.ofRead(e);
        }
    }

    /** Reads all rows of several statements at once. */
    List<List<Row>> rows(List<? extends Statement<?>> statements) {
        List<CompletableFuture<AsyncResultSet>> sent =
                statements.stream().map(this::request).toList();
        List<List<Row>> rows = new ArrayList<>();
        try {
            for (CompletableFuture<AsyncResultSet> each : sent) {
                rows.add(all(each.join()));
            }
        } catch (RuntimeException e) {
            throw Failures.ofRead(e);
        }
        return rows;
    }

    /** Reads after every transaction that has ended, and ends those that have not. */
    List<Row> rowsAfterAll(Statement<?> statement) {
        try {
            return all(send(statement.setConsistencyLevel(serial)).join());
        } catch (RuntimeException e) {
            throw Failures.ofRead(e);
        }
    }

    private static List<Row> all(AsyncResultSet first) {
        List<Row> rows = new ArrayList<>();
        AsyncResultSet page = first;
        page.currentPage().forEach(rows::add);
        while (page.hasMorePages()) {
            page = page.fetchNextPage().toCompletableFuture().join();
            page.currentPage().forEach(rows::add);
        }
        return rows;
    }

    /** Waits for writes that may be repeated at will; throws the first failure. */
    static void await(List<CompletableFuture<AsyncResultSet>> sent) {
        StoreException failure = null;
        for (CompletableFuture<AsyncResultSet> each : sent) {
            try {
                each.join();
            } catch (RuntimeException e) {
                failure = Failures.ofRead(e);
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
