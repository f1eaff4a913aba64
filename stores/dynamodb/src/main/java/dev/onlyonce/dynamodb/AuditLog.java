package dev.onlyonce.dynamodb;

import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Transition;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The audit of a key, inside its item, so that a change and its record are one write. The last claim and the last settlement are the
 * entry's own attributes; what was before them is in the log, as a text of bytes. Immutable.
 *
 * @param records oldest first
 * @param made how many the key ever had, so that their numbers go on
 */
record AuditLog(List<AuditLog.Step> records, long made) {
    /** The oldest records make room: the item has a limit, and each of its writes is paid by size. About 800 ordinary ones. */
    static final int BYTES_MAX = 48 << 10;

    /** Records of one key at one microsecond; the number of a record is its time and its place among these. */
    private static final int PLACE_BITS = 10;

    /** A change of state. The states are codes, 0 for none. */
    record Step(long from, long to, int attempt, long at, String operation, String who, String why) {
        static Step of(Transition step, long at) {
            return new Step(
                    code(step.from()), code(step.to()), step.attempt(), at, step.operation(), step.who(), step.why());
        }

        private static long code(@Nullable State state) {
            return state == null ? 0 : state.code();
        }

        AuditRecord record(EntryId id, long place) {
            Transition transition = new Transition(id, operation, Item.state(from), Item.state(to), attempt, who, why);
            long number = (at << PLACE_BITS) + (place & ((1 << PLACE_BITS) - 1));
            return new AuditRecord(number, transition, Item.instant(at));
        }
    }

    /** All records of an item. */
    static AuditLog of(Item item) {
        List<Step> steps = new ArrayList<>(item.has(Attribute.LOG) ? read(item.bytes(Attribute.LOG)) : List.of());
        long made = item.number(Attribute.LOGGED, 0);
        if (item.has(Attribute.CLAIMED_AT)) {
            steps.add(claim(item));
            made++;
        }
        if (item.has(Attribute.SETTLED_FROM)) {
            steps.add(settlement(item));
            made++;
        }
        return new AuditLog(List.copyOf(steps), made);
    }

    private static Step claim(Item item) {
        long to = item.number(Attribute.CLAIMED_TO);
        return new Step(
                item.number(Attribute.CLAIMED_FROM),
                to,
                item.attempt(),
                item.number(Attribute.CLAIMED_AT),
                item.text(Attribute.OPERATION),
                item.text(Attribute.OWNER),
                to == State.PENDING.code() ? "accepted" : "claimed");
    }

    private static Step settlement(Item item) {
        return new Step(
                item.number(Attribute.SETTLED_FROM),
                item.number(Attribute.SETTLED_TO),
                item.attempt(),
                item.number(Attribute.SETTLED),
                item.text(Attribute.OPERATION),
                item.text(item.has(Attribute.SETTLED_BY) ? Attribute.SETTLED_BY : Attribute.OWNER),
                item.text(Attribute.SETTLED_WHY));
    }

    AuditLog and(Step step) {
        List<Step> all = new ArrayList<>(records);
        all.add(step);
        return new AuditLog(List.copyOf(all), made + 1);
    }

    AuditLog without(int oldest) {
        return new AuditLog(records.subList(oldest, records.size()), made);
    }

    List<AuditRecord> list(EntryId id) {
        List<AuditRecord> list = new ArrayList<>();
        for (int i = 0; i < records.size(); i++) {
            list.add(records.get(i).record(id, made - records.size() + i));
        }
        return list;
    }

    /** Puts all records into the log; the entry's own attributes are free for the next claim and settlement. */
    Item.Edit into(Item.Edit edit) {
        edit.remove(
                        Attribute.CLAIMED_AT,
                        Attribute.CLAIMED_FROM,
                        Attribute.CLAIMED_TO,
                        Attribute.SETTLED_FROM,
                        Attribute.SETTLED_TO,
                        Attribute.SETTLED_BY,
                        Attribute.SETTLED_WHY)
                .setOrRemove(Attribute.LOG, bytes());
        return made == 0 ? edit : edit.set(Attribute.LOGGED, made);
    }

    private byte @Nullable [] bytes() {
        List<byte[]> texts = records.stream().map(AuditLog::bytes).toList();
        int first = texts.size();
        int size = 0;
        while (first > 0 && size + texts.get(first - 1).length <= BYTES_MAX) {
            first--;
            size += texts.get(first).length;
        }
        ByteArrayOutputStream all = new ByteArrayOutputStream(size);
        texts.subList(first, texts.size()).forEach(all::writeBytes);
        return size == 0 ? null : all.toByteArray();
    }

    private static byte[] bytes(Step step) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte((int) step.from);
            out.writeByte((int) step.to);
            out.writeInt(step.attempt);
            out.writeLong(step.at);
            out.writeUTF(step.operation);
            out.writeUTF(step.who);
            out.writeUTF(step.why);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static List<Step> read(byte[] log) {
        List<Step> steps = new ArrayList<>();
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(log))) {
            while (in.available() > 0) {
                steps.add(new Step(
                        in.readByte(),
                        in.readByte(),
                        in.readInt(),
                        in.readLong(),
                        in.readUTF(),
                        in.readUTF(),
                        in.readUTF()));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return steps;
    }
}
