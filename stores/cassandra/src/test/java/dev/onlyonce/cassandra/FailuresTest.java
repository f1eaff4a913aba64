package dev.onlyonce.cassandra;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import com.datastax.oss.driver.api.core.servererrors.UnauthorizedException;
import com.datastax.oss.driver.api.core.servererrors.UnavailableException;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What is known after a failure, and how long it takes to know. */
@DisplayName("A failure of Cassandra")
class FailuresTest {
    private static CassandraStore store;

    @BeforeAll
    static void open() {
        store = CassandraStore.open(Keyspaces.transactions());
    }

    @AfterAll
    static void close() {
        store.close();
    }

    @Test
    @DisplayName("E4 that found too few replicas for the commit may have changed the entry; for the order it has not")
    void tooFewReplicas() {
        Node node = store.session().getMetadata().getNodes().values().iterator().next();
        assertThat(Failures.ofWrite(new UnavailableException(node, ConsistencyLevel.QUORUM, 2, 1)))
                .isInstanceOf(StoreOutcomeUnknown.class);
        assertThat(Failures.ofWrite(new UnavailableException(node, ConsistencyLevel.SERIAL, 2, 1)))
                .isInstanceOf(StoreUnavailable.class);
    }

    @Test
    @DisplayName("E4 to read its table of rights is no refusal: a settlement is tried again and not dropped")
    void noRights() {
        Node node = store.session().getMetadata().getNodes().values().iterator().next();
        assertThat(Failures.ofWrite(new UnauthorizedException(node, "Unable to perform authorization")))
                .isInstanceOf(StoreUnavailable.class);
        assertThat(Failures.ofRead(new UnauthorizedException(node, "Unable to perform authorization")))
                .isInstanceOf(StoreUnavailable.class);
        assertThat(Failures.ofWrite(new InvalidQueryException(node, "too large")))
                .isInstanceOf(StoreRejected.class);
    }

    /** The cluster's, if one of its nodes were wrong by an hour. */
    private record Apart(ClusterClock right) implements Clock {
        @Override
        public long now() {
            return right.now();
        }

        @Override
        public long error() {
            return right.error();
        }

        @Override
        public long spread() {
            return Micros.of(Duration.ofHours(1));
        }
    }

    @Test
    @DisplayName("T5 of its clocks by more than the tolerance lets nothing run: entries that count might seem expired")
    void clocksApart() {
        ClusterClock right = new ClusterClock(store.session());
        assertThat(right.spread()).isLessThan(Micros.of(Duration.ofSeconds(5)));
        String url = Keyspaces.transactions();
        ClaimRequest claim = Calls.claim("apart");
        assertThat(store.claim(List.of(claim))).containsExactly(new ClaimResult.Claimed(1));
        try (CassandraStore apart =
                CassandraStore.builder(url).clock(new Apart(right)).build()) {
            assertThatThrownBy(() -> apart.claim(List.of(Calls.claim("apart-2"))))
                    .isInstanceOf(StoreUnavailable.class)
                    .hasMessageContaining("differ by PT1H, more than clockTolerance=PT10M")
                    .hasMessageContaining("Set its clock right, or stop it");
            assertThat(apart.settle(List.of(Calls.completed(claim))).get(0)).isInstanceOf(SettleResult.Settled.class);
        }
        try (CassandraStore tolerant = CassandraStore.builder(url)
                .clock(new Apart(right))
                .clockTolerance(Duration.ofHours(2))
                .build()) {
            assertThat(tolerant.claim(List.of(Calls.claim("apart-2")))).containsExactly(new ClaimResult.Claimed(1));
        }
    }

    @Test
    @DisplayName("takes a batch of any size no longer than a single item")
    void patience() {
        Link link = new Link(store.session(), ConsistencyLevel.QUORUM, ConsistencyLevel.SERIAL);
        Cas cas = new Cas(link, new Statements(store.session()), Duration.ofDays(1));
        LocalLocks locks = new LocalLocks();
        ClusterClock clock = new ClusterClock(store.session());
        ContendedChange contended = new ContendedChange(
                cas,
                new Indexes(link, () -> 0),
                new OpenClaims(),
                locks,
                () -> new Moment(clock.now(), clock.now(), 1, System.nanoTime()),
                Duration.ofSeconds(1));
        List<ClaimRequest> claims = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            claims.add(Calls.claim("held-" + i));
            // Somebody who does not answer has the turn.
            assertThat(locks.tryTake(claims.get(i).id())).isTrue();
        }
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            long before = System.nanoTime();
            EntryRules.Claim rule = new EntryRules.Claim(new Changes(new Expiry(Duration.ZERO)));
            assertThat(new Items(contended, threads).run(rule, claims)).containsOnly(new ClaimResult.Busy());
            assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(8));
        } finally {
            threads.shutdownNow();
        }
    }
}
