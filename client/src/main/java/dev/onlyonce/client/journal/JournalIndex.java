package dev.onlyonce.client.journal;

import dev.onlyonce.client.Journal;
import dev.onlyonce.client.JournalException;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Where the records of each call are in the file. Bodies stay on disk. */
final class JournalIndex {
    static final byte BEGUN = 1;
    static final byte SENDING = 2;
    static final byte SETTLED = 3;
    static final byte FORGOTTEN = 4;
    static final byte EXPIRES = 5;

    /** The most answers: they take memory. Dropping the oldest instead would give their ids new keys. */
    static final int SETTLED_MAX = 1_000_000;

    /** What the heads of a call's records take at most, about. */
    private static final long HEADS_BYTES = 600;

    /** In the order in which the calls were begun. */
    private final Map<String, Slot> slots = new LinkedHashMap<>();

    private int open;

    /** A part of the file. */
    record Span(long position, int length) {}

    /** A call. */
    record Slot(
            Span begun,
            @Nullable Instant sentAt,
            @Nullable Instant keyExpiresAt,
            @Nullable Span answer,
            @Nullable Instant settledAt) {
        boolean isOpen() {
            return answer == null;
        }

        long bytes() {
            return begun.length + (answer == null ? 0 : answer.length) + HEADS_BYTES;
        }
    }

    /** A record with its id. The content is a call or an answer as {@link RecordCodec} writes it, or nothing. */
    static byte[] record(byte type, String id, Instant at, byte[] content) {
        return RecordCodec.bytes(out -> {
            out.writeByte(type);
            RecordCodec.text(out, id);
            out.writeLong(at.toEpochMilli());
            out.writeInt(content.length);
            out.write(content);
        });
    }

    /** Takes in the records of a frame. */
    void apply(long position, byte[] payload) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(payload))) {
            while (in.available() > 0) {
                byte type = in.readByte();
                String id = RecordCodec.text(in);
                Instant at = Instant.ofEpochMilli(in.readLong());
                int length = in.readInt();
                Span content = new Span(position + payload.length - in.available(), length);
                in.skipNBytes(length);
                apply(type, id, at, content);
            }
        } catch (IOException e) {
            throw new JournalException("The journal has a record that this release cannot read: " + e.getMessage(), e);
        }
    }

    private void apply(byte type, String id, Instant at, Span content) {
        Slot old = slots.get(id);
        if (type == BEGUN) {
            put(id, new Slot(content, null, null, null, null));
        } else if (type == FORGOTTEN) {
            remove(id);
        } else if (old != null && type == SENDING) {
            put(id, new Slot(old.begun, at, old.keyExpiresAt, null, null));
        } else if (old != null && type == SETTLED) {
            put(id, new Slot(old.begun, old.sentAt, old.keyExpiresAt, content, at));
        } else if (old != null && type == EXPIRES) {
            put(id, new Slot(old.begun, old.sentAt, at, old.answer, old.settledAt));
        }
    }

    private void put(String id, Slot slot) {
        Slot old = slots.put(id, slot);
        open += (slot.isOpen() ? 1 : 0) - (old != null && old.isOpen() ? 1 : 0);
    }

    private void remove(String id) {
        Slot old = slots.remove(id);
        open -= old != null && old.isOpen() ? 1 : 0;
    }

    Optional<Slot> find(String id) {
        return Optional.ofNullable(slots.get(id));
    }

    void checkRoom(Instant now, Duration keep) {
        if (open >= Journal.OPEN_MAX) {
            throw new JournalException(
                    open + " calls are open in the journal, which is the most. Resume them before you send more");
        }
        if (slots.size() - open >= SETTLED_MAX && kept(now, keep).size() - open >= SETTLED_MAX) {
            throw new JournalException(
                    "The journal has " + SETTLED_MAX
                            + " answers, which is the most, so nothing was sent. Keep answers for a shorter time, or use a JdbcJournal");
        }
    }

    List<String> pending() {
        List<String> ids = new ArrayList<>();
        slots.forEach((id, slot) -> {
            if (slot.isOpen()) {
                ids.add(id);
            }
        });
        return ids;
    }

    /** The calls that are still worth keeping: those that are open, and those that were answered lately. */
    Map<String, Slot> kept(Instant now, Duration keep) {
        Map<String, Slot> kept = new LinkedHashMap<>();
        for (Map.Entry<String, Slot> entry : slots.entrySet()) {
            Instant settledAt = entry.getValue().settledAt;
            boolean dropped =
                    settledAt != null && Duration.between(settledAt, now).compareTo(keep) > 0;
            if (!dropped) {
                kept.put(entry.getKey(), entry.getValue());
            }
        }
        return kept;
    }
}
