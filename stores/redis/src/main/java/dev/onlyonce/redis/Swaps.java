package dev.onlyonce.redis;

import dev.onlyonce.redis.Swap.Shape;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends swaps to {@code swap.lua}.
 *
 * <ol>
 *   <li>One server gets them in one call, those that share their partition and shape together. A cluster gets a call for each partition,
 *       which names every key that it uses: while a slot moves, the server then refuses what is spread over two servers, instead of
 *       taking entries that are elsewhere for absent.
 *   <li>A call has a bounded number of bytes, and so have its answers. Calls travel together in a pipeline.
 *   <li>An audit that has a sixteenth too many records loses its oldest ones afterwards.
 * </ol>
 */
final class Swaps {
    private static final Logger log = LoggerFactory.getLogger(Swaps.class);

    /** How much of an entry is read. What is longer has a large result: sending it with the answers to others would hold them up. */
    static final int SMALL_BYTES = 16_384;

    /** Arguments of a call: an item more, and it would hold up everybody else on the server. */
    private static final int CALL_BYTES_MAX = 1 << 20;
    /** Items of a call, for the same reason; and the next call is worked on while the answers to this one travel. */
    private static final int CALL_ITEMS_MAX = 64;
    /** Calls of a pipeline, together. */
    private static final int PIPELINE_BYTES_MAX = 8 << 20;

    private static final long TOO_LATE = -1;
    private static final int FORGET_PART = 16;
    /** Messages that are forgotten together. */
    private static final int FORGET_TOGETHER = 100;
    /** Before every record. */
    private static final long LONG_AGO = -1_000_000_000_000_000L;

    private static final byte[] NO_LIMIT = {};

    private final Link link;
    private final Pipeline pipeline;
    private final Partitions partitions;
    private final Settings settings;
    /** What the keys of each partition begin with. */
    private final List<byte[]> bases;
    /** And those of its entries. */
    private final List<byte[]> entries;

    private final List<byte[]> marks;
    private final Script script;
    private final Script trim;

    /**
     * What every call needs.
     *
     * @param auditMax how many audit records a partition keeps
     * @param store the id of the store, see {@link Marks}
     * @param clock the text of a function {@code now}, for tests
     */
    record Settings(long auditMax, Supplier<String> store, Optional<String> clock) {}

    /** An entry, and what is to become of it; then what has. */
    static final class Item {
        private final EntryId id;
        private final int partition;
        private final byte[] key;
        private Swap swap = Swap.READ;
        private @Nullable Found found;
        private @Nullable StoreException failure;

        private Item(EntryId id, int partition, byte[] key) {
            this.id = id;
            this.partition = partition;
            this.key = key;
        }

        EntryId id() {
            return id;
        }

        int partition() {
            return partition;
        }

        byte[] key() {
            return key;
        }

        /** What is to become of it next. */
        void set(Swap next) {
            swap = next;
            found = null;
        }

        Optional<StoreException> failure() {
            return Optional.ofNullable(failure);
        }

        void fail(StoreException reason) {
            failure = reason;
        }

        Found found() {
            return Optional.ofNullable(found).orElseThrow();
        }

        private int bytes() {
            return key.length + swap.bytes();
        }
    }

    /**
     * What the script says of an item.
     *
     * @param at the server's time
     * @param isDone whether the entry was as expected, and is changed
     * @param raw else, what is stored; null for nothing, or if it was too late for the change
     * @param isLarge whether that is only the beginning
     */
    record Found(Instant at, boolean isDone, boolean isLate, byte @Nullable [] raw, boolean isLarge) {}

    Swaps(Link link, Pipeline pipeline, Partitions partitions, Settings settings) {
        this.link = link;
        this.pipeline = pipeline;
        this.partitions = partitions;
        this.settings = settings;
        this.bases = keys(partition -> partitions.key(partition, ""));
        this.entries = keys(partition -> partitions.key(partition, Partitions.ENTRY));
        this.marks = keys(partition -> Marks.key(partitions, partition));
        this.script = Script.of("swap", settings.clock());
        this.trim = Script.of("trim", settings.clock());
    }

    private List<byte[]> keys(IntFunction<byte[]> key) {
        return IntStream.range(0, partitions.count()).mapToObj(key).toList();
    }

    Item item(EntryId id) {
        byte[] member = Partitions.member(id);
        int partition = partitions.of(member);
        return new Item(id, partition, Partitions.joined(entries.get(partition), member));
    }

    /** What a call is for. */
    enum Mode {
        /** Changes entries, or reads those that are changed next; but for their results. */
        CHANGE(true, StoredEntry.HEAD_BYTES - 1),
        /** With results, for those who cannot take the key. */
        CLAIM(true, SMALL_BYTES),
        /** A slot of a cluster that moves answers commands for one key alone: a read must not need another one. */
        FIND(false, SMALL_BYTES),
        /** Without the results. */
        LIST(false, StoredEntry.HEAD_BYTES - 1);

        private final boolean isWrite;
        private final int bytes;

        Mode(boolean isWrite, int bytes) {
            this.isWrite = isWrite;
            this.bytes = bytes;
        }
    }

    /**
     * Sends the swaps; each item has what was found, or a failure.
     *
     * @throws StoreUnavailable if nothing was sent
     */
    void send(List<Item> items, Mode mode) {
        Deque<List<Item>> waiting = new ArrayDeque<>(calls(items));
        TreeSet<Integer> overfull = new TreeSet<>();
        boolean isFirst = true;
        while (!waiting.isEmpty()) {
            List<List<Item>> calls = new ArrayList<>();
            long bytes = 0;
            while (!waiting.isEmpty() && bytes < PIPELINE_BYTES_MAX) {
                List<Item> call = waiting.remove();
                bytes += call.stream().mapToLong(Item::bytes).sum();
                calls.add(call);
            }
            List<Reply> replies;
            try {
                replies = pipeline.send(
                        calls.stream().map(call -> request(call, mode)).toList());
            } catch (StoreUnavailable e) {
                if (isFirst) {
                    throw e;
                }
                // Earlier calls have changed their items.
                replies = Collections.nCopies(calls.size(), new Reply(List.of(), e));
            }
            isFirst = false;
            for (int i = 0; i < calls.size(); i++) {
                answer(calls.get(i), replies.get(i), overfull);
            }
        }
        forget(overfull);
    }

    /** What goes together: everything, or all that is in one partition, up to a number of bytes. */
    private List<List<Item>> calls(List<Item> items) {
        Map<Integer, List<Item>> open = new HashMap<>();
        Map<Integer, Integer> bytes = new HashMap<>();
        List<List<Item>> calls = new ArrayList<>();
        for (Item item : items) {
            int where = link.isCluster() ? item.partition : 0;
            if (bytes.merge(where, item.bytes(), Integer::sum) > CALL_BYTES_MAX) {
                bytes.put(where, item.bytes());
                open.remove(where);
            }
            List<Item> call = open.get(where);
            if (call == null || call.size() == CALL_ITEMS_MAX) {
                call = new ArrayList<>();
                open.put(where, call);
                calls.add(call);
            }
            call.add(item);
        }
        return calls;
    }

    private record Group(int partition, Shape shape) {}

    /** Sorts the call by groups. */
    private Request request(List<Item> call, Mode mode) {
        Map<Group, List<Item>> groups = new LinkedHashMap<>();
        long until = Swap.ALWAYS;
        for (Item item : call) {
            until = Math.min(until, item.swap.until());
            groups.computeIfAbsent(new Group(item.partition, item.swap.shape()), group -> new ArrayList<>())
                    .add(item);
        }
        call.clear();
        List<byte[]> keys = new ArrayList<>();
        List<byte[]> marked = new ArrayList<>();
        List<byte[]> arguments = new ArrayList<>();
        boolean isMarked = mode.isWrite || !link.isCluster();
        TreeSet<Integer> touched = new TreeSet<>();
        groups.forEach((group, its) -> {
            if (isMarked && touched.add(group.partition)) {
                marked.add(marks.get(group.partition));
            }
            header(group, its.size(), arguments);
            for (Item item : its) {
                Swap swap = item.swap;
                keys.add(item.key);
                Swap.Next next = swap.next();
                Collections.addAll(
                        arguments, swap.expected(), next.before(), next.after(), next.result(), swap.records());
            }
            call.addAll(its);
        });
        arguments.addAll(
                0,
                List.of(
                        Partitions.bytes(settings.store().get()),
                        number(marked.size()),
                        until == Swap.ALWAYS ? NO_LIMIT : number(until),
                        number(mode.bytes)));
        if (mode.isWrite && link.isCluster()) {
            keys.addAll(partitions.indexes(call.get(0).partition));
        }
        keys.addAll(marked);
        return Request.script(script, keys, arguments);
    }

    private void header(Group group, int count, List<byte[]> arguments) {
        Shape shape = group.shape;
        Collections.addAll(
                arguments,
                bases.get(group.partition),
                number(count),
                Partitions.bytes(shape.todo().name()),
                Partitions.bytes(shape.stamp().name()),
                number(shape.micros()),
                Partitions.bytes(shape.from()),
                Partitions.bytes(shape.to()),
                number(shape.recordsEach()),
                number(shape.more()));
    }

    static byte[] number(long number) {
        return Partitions.bytes(Long.toString(number));
    }

    /** Hands the answers to the items of a call, in the order of the request. */
    private void answer(List<Item> call, Reply reply, Set<Integer> overfull) {
        if (reply.failure() != null) {
            call.forEach(item -> item.fail(reply.failure()));
            return;
        }
        List<Object> values = reply.values();
        Instant at = now(values);
        long audited = (Long) values.get(1);
        Found done = new Found(at, audited != TOO_LATE, audited == TOO_LATE, null, false);
        call.forEach(item -> item.found = done);
        for (int i = 2; i < values.size(); i += 2) {
            Item item = call.get(((Long) values.get(i)).intValue() - 1);
            Object value = values.get(i + 1);
            item.failure = Reply.failure(value);
            boolean isLarge = value instanceof List<?>;
            byte[] raw = (byte[]) (value instanceof List<?> parts ? parts.get(0) : value);
            item.found = new Found(at, false, false, raw.length == 0 ? null : raw, isLarge);
        }
        if (audited - settings.auditMax() > settings.auditMax() / FORGET_PART) {
            call.forEach(item -> overfull.add(item.partition));
        }
    }

    /** What cannot be forgotten now is, after another change. */
    private void forget(Set<Integer> overfull) {
        if (overfull.isEmpty()) {
            return;
        }
        try {
            var unused = pipeline.send(overfull.stream()
                    .map(partition -> trim(partition, LONG_AGO, FORGET_TOGETHER, number(settings.auditMax())))
                    .toList());
        } catch (StoreException e) {
            // The changes are made: their callers must not learn that they are not.
            log.debug("The audit was not shortened", e);
        }
    }

    /**
     * Has the oldest records of a partition deleted.
     *
     * @param ageMicros how old they must be
     * @param most how many at most
     * @param left how many are left at least; empty for none
     */
    Request trim(int partition, long ageMicros, int most, byte[] left) {
        return Request.script(
                trim,
                List.of(partitions.key(partition, Partitions.AUDIT), partitions.key(partition, Partitions.AUDITED)),
                Arrays.asList(number(ageMicros), number(most), left));
    }

    /** The clock of the server that has the first partition. */
    Instant now() {
        Request request = Request.script(
                script, List.of(partitions.key(0, "")), List.of(NO_LIMIT, number(0), NO_LIMIT, number(0)));
        Reply reply = pipeline.send(List.of(request)).get(0);
        if (reply.failure() != null) {
            throw reply.failure();
        }
        return now(reply.values());
    }

    /** The script answers with the server's clock first. */
    static Instant now(List<Object> values) {
        return StoredEntry.instant((long) (Long) values.get(0));
    }
}
