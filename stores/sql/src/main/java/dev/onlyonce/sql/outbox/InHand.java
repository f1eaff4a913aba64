package dev.onlyonce.sql.outbox;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The rows that a node has taken and not ended, and how much more it may take. Safe for any number of threads. */
final class InHand {
    private final Set<String> topics;
    private final Map<Long, TakenRow> rows = new ConcurrentHashMap<>();
    private final Shares number;
    private final Shares bytes;

    InHand(OutboxSettings settings) {
        this.topics = settings.handlers().keySet();
        this.number = new Shares(topics, settings.rowsAhead(), 1);
        this.bytes = new Shares(topics, settings.bytesMax(), 1);
    }

    /**
     * What may be taken of a topic.
     *
     * @param isFirst whether none is in hand: then one row is taken, however large it is
     */
    record Room(int rows, long bytes, boolean isFirst) {}

    /** What may be taken of each topic that has room. */
    Map<String, Room> rooms() {
        Map<String, Room> rooms = new LinkedHashMap<>();
        for (String topic : topics) {
            long rowsLeft = number.room(topic);
            long bytesLeft = bytes.room(topic);
            boolean first = number.used(topic) == 0;
            if (rowsLeft > 0 && (first || bytesLeft > 0)) {
                rooms.put(topic, new Room((int) rowsLeft, bytesLeft, first));
            }
        }
        return rooms;
    }

    /** Whether a topic has used up less than half of what it may use. */
    boolean isLow() {
        return topics.stream().anyMatch(this::isLow);
    }

    private boolean isLow(String topic) {
        return number.used(topic) <= number.room(topic) && bytes.used(topic) <= bytes.room(topic);
    }

    void add(TakenRow held) {
        count(held, 1);
        TakenRow before = rows.put(held.stored().row().id(), held);
        if (before != null) {
            count(before, -1);
        }
    }

    void remove(TakenRow held) {
        if (rows.remove(held.stored().row().id(), held)) {
            count(held, -1);
        }
    }

    private void count(TakenRow held, int times) {
        number.use(held.topic(), times);
        bytes.use(held.topic(), times * held.stored().bytes());
    }

    Collection<TakenRow> all() {
        return List.copyOf(rows.values());
    }

    int size() {
        return rows.size();
    }

    boolean isEmpty() {
        return rows.isEmpty();
    }
}
