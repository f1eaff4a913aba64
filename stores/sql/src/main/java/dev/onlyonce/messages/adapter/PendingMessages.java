package dev.onlyonce.messages.adapter;

import static java.util.stream.Collectors.toSet;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Messages that are not done, in the order in which the broker delivered them. Used by the thread that consumes alone.
 *
 * @param <R> what the broker delivered
 */
public final class PendingMessages<R> {
    /** How long to wait for one that is being applied: it may be done at any time. */
    private static final long RUNNING_NANOS = Duration.ofMillis(20).toNanos();

    private final List<PendingMessage<R>> open = new ArrayList<>();

    /** Adds one at the end. */
    public void add(PendingMessage<R> pending) {
        open.add(pending);
    }

    /** Whether all are done. */
    public boolean isEmpty() {
        return open.isEmpty();
    }

    /** Those of them that are here. */
    public Set<PendingMessage<R>> those(Set<PendingMessage<R>> messages) {
        return open.stream().filter(messages::contains).collect(toSet());
    }

    /** How many are not done. */
    public int size() {
        return open.size();
    }

    /** How many of them did not fail, hang, or wait for somebody else before. */
    public int fresh() {
        return (int) open.stream().filter(pending -> !pending.isSlow()).count();
    }

    /** Whether any is being applied. */
    public boolean isRunning() {
        return open.stream().anyMatch(PendingMessage::isRunning);
    }

    /** All that are not done. */
    public List<PendingMessage<R>> all() {
        return List.copyOf(open);
    }

    /** The first that is not done. */
    public @Nullable PendingMessage<R> first() {
        return open.isEmpty() ? null : open.get(0);
    }

    /** Those to try now: due, and not behind one of the same order that is not due. */
    public List<PendingMessage<R>> due(long nowNanos) {
        return heads(nowNanos).stream()
                .filter(pending -> pending.isDue(nowNanos))
                .toList();
    }

    /** For how long there is nothing to try. */
    public long idleNanos(long nowNanos) {
        return heads(nowNanos).stream()
                .mapToLong(pending -> pending.isRunning() ? RUNNING_NANOS : Math.max(0, pending.dueNanos() - nowNanos))
                .min()
                .orElse(Long.MAX_VALUE);
    }

    /** Those that wait for nothing but their own time. */
    private List<PendingMessage<R>> heads(long nowNanos) {
        Set<Object> waiting = new HashSet<>();
        List<PendingMessage<R>> heads = new ArrayList<>();
        for (PendingMessage<R> pending : open) {
            Object order = pending.order();
            if (order != null && waiting.contains(order)) {
                continue;
            }
            heads.add(pending);
            if (order != null && !pending.isDue(nowNanos)) {
                waiting.add(order);
            }
        }
        return heads;
    }

    /** Takes out those that are done. */
    public void done(Set<PendingMessage<R>> messages) {
        open.removeIf(messages::contains);
    }
}
