package dev.onlyonce.kafka;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;

/** The records of one partition that were received and are not done, in order. Used by the thread that polls alone. */
final class Lane {
    private final List<Letter> pending = new ArrayList<>();
    private long next;
    private long committed = -1;

    void add(Letter letter) {
        pending.add(letter);
        next = letter.record().offset() + 1;
    }

    boolean isEmpty() {
        return pending.isEmpty();
    }

    /** Those to try now: due, and not behind one of the same order that is not due. */
    List<Letter> due(long nowNanos) {
        return heads(nowNanos).stream().filter(letter -> letter.isDue(nowNanos)).toList();
    }

    /** For how long there is nothing to try. */
    long idleNanos(long nowNanos) {
        return heads(nowNanos).stream()
                .mapToLong(letter -> Math.max(0, letter.dueNanos() - nowNanos))
                .min()
                .orElse(Long.MAX_VALUE);
    }

    /** Those that wait for nothing but their own time. */
    private List<Letter> heads(long nowNanos) {
        Set<Object> waiting = new HashSet<>();
        List<Letter> heads = new ArrayList<>();
        for (Letter letter : pending) {
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

    void done(Set<Letter> letters) {
        pending.removeIf(letters::contains);
    }

    /** Everything before this offset is done. Some after it may be done too: they are recognised when they are delivered again. */
    long position() {
        return pending.isEmpty() ? next : pending.get(0).record().offset();
    }

    boolean isAhead() {
        return position() > committed;
    }

    OffsetAndMetadata toCommit() {
        return new OffsetAndMetadata(position());
    }

    void committed(long offset) {
        committed = offset;
    }
}
