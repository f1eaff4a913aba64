package dev.onlyonce.cassandra;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreRefused;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.testkit.LossContract;
import dev.onlyonce.testservers.CassandraCluster;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Cassandra that loses its entries")
final class LossTest extends LossContract {
    private static final AtomicInteger KEYSPACES = new AtomicInteger();
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private static CassandraCluster cluster;
    /** Of another keyspace. */
    private static CassandraStore other;

    private final String keyspace = "loss" + KEYSPACES.incrementAndGet();

    /** One node knows a new definition at once; three take a second or more, and here are hundreds. */
    @BeforeAll
    static void start() {
        cluster = CassandraCluster.start(1);
        other = open("definitions");
    }

    @AfterAll
    static void stop() {
        other.close();
        cluster.close();
    }

    private static CassandraStore open(String keyspace) {
        return CassandraStore.open(cluster.url(keyspace) + "?replication=1");
    }

    @Override
    protected Store open() {
        return open(keyspace);
    }

    private void define(String statement) {
        other.session().execute(SimpleStatement.newInstance(statement).setTimeout(PATIENCE));
    }

    @Override
    protected void empty() {
        define("TRUNCATE " + keyspace + ".entry");
    }

    @Override
    protected void startOver() {
        define("DROP KEYSPACE " + keyspace);
    }

    @Test
    @DisplayName(
            "E5 a node that dies or fails before its new tables have their mark leaves no store that is refused for good")
    void halfCreated() {
        try (CassandraStore dying = open("dying")) {
            Schema half = new Schema(dying.session(), keyspace);
            assertThatThrownBy(() -> half.create(null, 1, () -> {
                        throw new StoreUnavailable("the mark was not written", null);
                    }))
                    .isInstanceOf(StoreUnavailable.class);
        }
        try (Store store = open()) {
            assertThat(store.refusal()).isEmpty();
            assertThat(store.claim(List.of(Calls.claim("key")))).allMatch(ClaimResult.Claimed.class::isInstance);
        }
    }

    @Test
    @DisplayName("E5 a keyspace that is told not to write to disk is refused until it does so again")
    void settings() {
        try (Store store = open()) {
            define("ALTER KEYSPACE " + keyspace + " WITH durable_writes = false");
            awaitRefusal(store);
            assertThatThrownBy(store::recheck).isInstanceOf(StoreRefused.class).hasMessageContaining("durable_writes");
            assertThatThrownBy(() -> store.claim(List.of(Calls.claim("key")))).isInstanceOf(StoreRefused.class);
            define("ALTER KEYSPACE " + keyspace + " WITH durable_writes = true");
            long end = System.nanoTime() + PATIENCE.toNanos();
            while (store.refusal().isPresent() && System.nanoTime() < end) {
                look(store);
            }
            assertThat(store.claim(List.of(Calls.claim("key")))).hasOnlyElementsOfType(ClaimResult.Claimed.class);
        }
    }

    /** The driver is told of new definitions a moment later. */
    private static void awaitRefusal(Store store) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (store.refusal().isEmpty() && System.nanoTime() < end) {
            look(store);
        }
    }

    private static void look(Store store) {
        LockSupport.parkNanos(10_000_000);
        try {
            store.recheck();
        } catch (StoreRefused e) {
            // Seen by its refusal.
        }
    }
}
