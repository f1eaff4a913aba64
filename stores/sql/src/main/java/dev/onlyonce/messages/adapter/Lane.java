package dev.onlyonce.messages.adapter;

import static java.util.stream.Collectors.toSet;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Letters that are not done, in the order in which the broker delivered them. Used by the thread that consumes alone.
 *
 * @param <R> what the broker delivered
 */
public final class Lane<R> {
    /** How long to wait for one that is being applied: it may be done at any time. */
    private static final long RUNNING_NANOS = Duration.ofMillis(20).toNanos();

    private final List<Letter<R>> pending = new ArrayList<>();

    /** Adds one at the end. */
    public void add(Letter<R> letter) {
        pending.add(letter);
    }

    /** Whether all are done. */
    public boolean isEmpty() {
        return pending.isEmpty();
    }

    /** Those of them that are here. */
    public Set<Letter<R>> those(Set<Letter<R>> letters) {
        return pending.stream().filter(letters::contains).collect(toSet());
    }

    /** How many are not done. */
    public int size() {
        return pending.size();
    }

    /** How many of them did not fail, hang, or wait for somebody else before. */
    public int fresh() {
        return (int) pending.stream().filter(letter -> !letter.isSlow()).count();
    }

    /** Whether any is being applied. */
    public boolean isRunning() {
        return pending.stream().anyMatch(Letter::isRunning);
    }

    /** All that are not done. */
    public List<Letter<R>> all() {
        return List.copyOf(pending);
    }

    /** The first that is not done. */
    public @Nullable Letter<R> first() {
        return pending.isEmpty() ? null : pending.get(0);
    }

    /** Those to try now: due, and not behind one of the same order that is not due. */
    public List<Letter<R>> due(long nowNanos) {
        return heads(nowNanos).stream().filter(letter -> letter.isDue(nowNanos)).toList();
    }

    /** For how long there is nothing to try. */
    public long idleNanos(long nowNanos) {
        return heads(nowNanos).stream()
                .mapToLong(letter -> letter.isRunning() ? RUNNING_NANOS : Math.max(0, letter.dueNanos() - nowNanos))
                .min()
                .orElse(Long.MAX_VALUE);
    }

    /** Those that wait for nothing but their own time. */
    private List<Letter<R>> heads(long nowNanos) {
        Set<Object> waiting = new HashSet<>();
        List<Letter<R>> heads = new ArrayList<>();
        for (Letter<R> letter : pending) {
            Object order = letter.order();
            if (order != null && waiting.contains(order)) {
                continue;
            }
            heads.add(letter);
            if (order != null && !letter.isDue(nowNanos)) {
                waiting.add(order);
            }
        }
        return heads;
    }

    /** Takes out those that are done. */
    public void done(Set<Letter<R>> letters) {
        pending.removeIf(letters::contains);
    }
}
