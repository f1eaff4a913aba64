package dev.onlyonce.sql.outbox;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Divides something bounded among topics: threads, rows, bytes. Half of it is divided into equal parts that nobody else can take; any
 * topic may use the other half. So one topic that never gives anything back leaves the others their parts. Safe for any number of threads.
 */
final class Shares {
    private final long max;
    private final long own;
    private final Map<String, Long> used = new HashMap<>();

    /**
     * Nothing is used yet.
     *
     * @param least what each topic has at least; with very many topics, that is more than {@code max} together
     */
    Shares(Set<String> topics, long max, long least) {
        int parts = Math.max(1, topics.size());
        this.own = Math.max(least, max / (2L * parts));
        this.max = Math.max(max, own * parts);
        topics.forEach(topic -> used.put(topic, 0L));
    }

    /** How much more this topic may use now; negative if it uses more than it may. */
    synchronized long room(String topic) {
        long mine = used(topic);
        long left = max - mine;
        for (Map.Entry<String, Long> other : used.entrySet()) {
            if (!other.getKey().equals(topic)) {
                left -= Math.max(own, other.getValue());
            }
        }
        return Math.max(left, own - mine);
    }

    synchronized long used(String topic) {
        return used.getOrDefault(topic, 0L);
    }

    /** More, or less if negative. */
    synchronized void use(String topic, long amount) {
        used.merge(topic, amount, Long::sum);
    }
}
