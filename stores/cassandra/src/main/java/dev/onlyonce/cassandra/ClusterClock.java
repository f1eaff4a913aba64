package dev.onlyonce.cassandra;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.loadbalancing.NodeDistance;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.metadata.NodeState;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The median of the clocks of Cassandra's nodes. Transactions cannot compare with a node's clock, so every node of ours asks for it, and
 * counts on from the answer with a clock that nobody can set.
 *
 * <ol>
 *   <li>Asks up to {@value #NODES_MAX} nodes, the same ones as everybody else, for their time, and takes the middle of the round trip.
 *   <li>Takes the median of all answers, of nodes that are down too: one wrong clock is outvoted.
 *   <li>Asks again every few seconds, on the side.
 *   <li>Its error is half the round trip of the median's node, and a little for the answer's milliseconds and for drift. A lease has
 *       lapsed only when it has lapsed by twice that error.
 * </ol>
 */
final class ClusterClock implements Clock {
    private static final int NODES_MAX = 7;
    private static final Duration EVERY = Duration.ofSeconds(5);
    /** Answers have milliseconds, and oscillators drift by a few parts in a hundred thousand. */
    private static final long ROUNDING = Micros.of(Duration.ofMillis(2));
    /** A slow answer says little about the clock; it must not keep leases from lapsing. */
    private static final long ERROR_MAX = Micros.of(Duration.ofSeconds(5));

    private static final long WRONG = Micros.of(Duration.ofSeconds(1));

    private static final Logger log = LoggerFactory.getLogger(ClusterClock.class);
    private static final SimpleStatement ASK = SimpleStatement.newInstance(
                    "SELECT toTimestamp(now()) AS now FROM system.local")
            .setIdempotent(true);

    private final CqlSession session;
    private final Map<UUID, Answer> answers = new ConcurrentHashMap<>();
    private final AtomicBoolean isAsking = new AtomicBoolean();
    private volatile Answer median;
    private volatile long spread;
    private volatile long askedAt;

    /**
     * A node's clock.
     *
     * @param offset what to add to this JVM's nano clock, in microseconds
     */
    private record Answer(long offset, long error) {}

    /** Asks once, so that there is a clock. */
    ClusterClock(CqlSession session) {
        this.session = session;
        ask().join();
        median = median();
        spread = spreadOfLive();
    }

    @Override
    public long spread() {
        askAgain();
        return spread;
    }

    @Override
    public long now() {
        askAgain();
        return System.nanoTime() / 1000 + median.offset();
    }

    private void askAgain() {
        if (System.nanoTime() - askedAt > EVERY.toNanos() && isAsking.compareAndSet(false, true)) {
            var unused = refresh().whenComplete((done, failure) -> isAsking.set(false));
        }
    }

    /** Asks, and counts by the answers. */
    CompletableFuture<Void> refresh() {
        return ask().thenRun(() -> {
            median = median();
            spread = spreadOfLive();
        });
    }

    @Override
    public long error() {
        return 2 * Math.min(ERROR_MAX, median.error() + ROUNDING);
    }

    private CompletableFuture<Void> ask() {
        askedAt = System.nanoTime();
        List<Node> nodes = session.getMetadata().getNodes().values().stream()
                // A node of another data centre is never asked: it must not take the place of one that answers.
                .filter(node -> node.getHostId() != null && node.getDistance() != NodeDistance.IGNORED)
                .sorted(Comparator.comparing(node -> Objects.requireNonNull(node.getHostId())))
                .limit(NODES_MAX)
                .toList();
        // Nodes that were removed from the cluster do not outvote those that replaced them.
        answers.keySet().retainAll(nodes.stream().map(Node::getHostId).toList());
        return CompletableFuture.allOf(nodes.stream().map(this::ask).toArray(CompletableFuture<?>[]::new));
    }

    private CompletableFuture<?> ask(Node node) {
        long sent = System.nanoTime();
        return session.executeAsync(ASK.setNode(node)).toCompletableFuture().handle((rows, failure) -> {
            if (failure == null) {
                long received = System.nanoTime();
                Instant now = Objects.requireNonNull(
                        Objects.requireNonNull(rows.one()).getInstant("now"));
                long middle = (sent + (received - sent) / 2) / 1000;
                Answer answer = new Answer(Micros.of(now) - middle, (received - sent) / 2000);
                answers.put(Objects.requireNonNull(node.getHostId()), answer);
            }
            return true;
        });
    }

    /** Of the nodes that work for clients; what their answers leave open does not count. */
    private long spreadOfLive() {
        long last = Long.MIN_VALUE;
        long first = Long.MAX_VALUE;
        for (Node node : session.getMetadata().getNodes().values()) {
            UUID id = node.getHostId();
            Answer answer = id == null ? null : answers.get(id);
            if (answer != null && node.getState() == NodeState.UP) {
                last = Math.max(last, answer.offset() - answer.error());
                first = Math.min(first, answer.offset() + answer.error());
            }
        }
        return last > first ? last - first : 0;
    }

    private Answer median() {
        List<Answer> sorted = answers.values().stream()
                .sorted(Comparator.comparingLong(Answer::offset))
                .toList();
        if (sorted.isEmpty()) {
            throw new StoreUnavailable("No node of Cassandra says what time it is", null);
        }
        Answer median = sorted.get((sorted.size() - 1) / 2);
        long spread = sorted.get(sorted.size() - 1).offset() - sorted.get(0).offset();
        if (spread > WRONG + 2 * median.error()) {
            log.warn(
                    "The clocks of Cassandra's nodes differ by {} ms; the median counts. Keep them together, with NTP",
                    spread / 1000);
        }
        return median;
    }
}
