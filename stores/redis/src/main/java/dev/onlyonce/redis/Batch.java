package dev.onlyonce.redis;

import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.UnreadableEntries;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a script for a list of items.
 *
 * <ol>
 *   <li>One server gets them in one call. A cluster gets a call for each partition, which names every key that it uses: while a slot
 *       moves, the server then refuses what is spread over two servers, instead of taking entries that are elsewhere for absent.
 *   <li>A call has a bounded number of bytes, and so have its answers: the script leaves the rest of its items for the next call. Calls
 *       travel together in a pipeline. Entries with large results are not answered; see {@link LargeEntries}.
 *   <li>An item that fails costs the others nothing: if it was not changed, it is answered as unavailable, a settlement as busy.
 * </ol>
 */
final class Batch {
    private static final Logger log = LoggerFactory.getLogger(Batch.class);
    private static final Duration WARN_EVERY = Duration.ofSeconds(10);
    /** Arguments of a call: an item more, and it would hold up everybody else on the server. */
    private static final int CALL_BYTES_MAX = 1 << 20;
    /** Items of a call, for the same reason; and the next call is worked on while the answers to this one travel. */
    private static final int CALL_ITEMS_MAX = 64;
    /** Calls of a pipeline, together. */
    private static final int PIPELINE_BYTES_MAX = 8 << 20;

    private final Link link;
    private final Pipeline pipeline;
    private final Partitions partitions;
    private final Settings settings;
    /** What the keys of each partition's entries begin with. */
    private final List<byte[]> bases;

    private final List<byte[]> marks;

    private final AtomicLong warnedNanos = new AtomicLong();

    /**
     * What every script call needs.
     *
     * @param auditMax how many audit records a partition keeps
     * @param store the id of the store, see {@link Marks}
     */
    record Settings(long auditMax, AuditLevel audit, Replicas replicas, LargeEntries large, Supplier<String> store) {
        /** In front of the arguments of the items. */
        List<byte[]> arguments(int marks) {
            return List.of(
                    Verbs.number(auditMax),
                    Verbs.number(audit == AuditLevel.ALL ? 1 : 0),
                    Partitions.bytes(store.get()),
                    Verbs.number(marks));
        }
    }

    Batch(Link link, Pipeline pipeline, Partitions partitions, Settings settings) {
        this.link = link;
        this.pipeline = pipeline;
        this.partitions = partitions;
        this.settings = settings;
        this.bases = IntStream.range(0, partitions.count())
                .mapToObj(partition -> partitions.key(partition, Partitions.ENTRY))
                .toList();
        this.marks = IntStream.range(0, partitions.count())
                .mapToObj(partition -> Marks.key(partitions, partition))
                .toList();
    }

    /** Reads the answer to an item. */
    interface Reading<Q, A> {
        A read(Q item, @Nullable Object answer, Instant now);
    }

    /**
     * A verb for lists.
     *
     * @param arguments what the script takes for an item
     * @param refused the answer for an item that was not changed although others were; empty if the verb has none
     */
    record Verb<Q, A>(
            Script script,
            Function<Q, EntryId> id,
            Function<Q, List<byte[]>> arguments,
            Reading<Q, A> reading,
            Optional<Function<StoreException, A>> refused) {}

    /** An item on its way: where it lives, and its answer or failure when it has one. */
    private static final class Item<Q, A> {
        private final Q request;
        private final int partition;
        private final byte[] key;
        private final List<byte[]> arguments;
        private @Nullable A answer;
        private @Nullable StoreException failure;
        /** When the answer to a read was left out, because it is large. */
        private @Nullable Instant largeAt;

        Item(Q request, int partition, byte[] key, List<byte[]> arguments) {
            this.request = request;
            this.partition = partition;
            this.key = key;
            this.arguments = arguments;
        }

        int bytes() {
            int bytes = key.length;
            for (byte[] argument : arguments) {
                bytes += argument.length;
            }
            return bytes;
        }
    }

    /**
     * Writes; answers in the order of the items.
     *
     * @throws IllegalArgumentException if an id is there twice: a script plans each item from what is stored, so both would be taken
     */
    <Q, A> List<A> write(Verb<Q, A> verb, List<Q> items) {
        if (items.stream().map(verb.id()).distinct().count() < items.size()) {
            throw new IllegalArgumentException("an id is twice in one list: send the second one with the next list");
        }
        List<Item<Q, A>> all = items(verb, items);
        Replicas replicas = settings.replicas();
        int generation = link.generation();
        fail(all, replicas.refused(partitions(all)));
        run(verb, all.stream().filter(item -> item.failure == null).toList(), true);
        fail(all, replicas.await(partitions(all), generation));
        List<StoreException> failures = failures(all);
        if (failures.stream().anyMatch(Reply::isFromReplica)) {
            link.findMaster();
        }
        for (StoreException failure : failures) {
            if (failure instanceof StoreOutcomeUnknown) {
                throw failure;
            }
        }
        for (StoreException failure : failures) {
            boolean isPartial = failures.size() < all.size();
            if (verb.refused().isEmpty() && isPartial) {
                throw new StoreOutcomeUnknown("Some items may have been changed. " + failure.getMessage(), failure);
            } else if (verb.refused().isEmpty() && Reply.isOfItem(failure)) {
                // Not unavailable: a reconciler goes on with other entries.
                throw new StoreRejected(String.valueOf(failure.getMessage()), failure);
            } else if (!isPartial && (verb.refused().isEmpty() || isOfServer(failure))) {
                throw failure;
            }
        }
        warn(failures, all.size());
        return all.stream()
                .map(item -> item.failure == null
                        ? Optional.ofNullable(item.answer).orElseThrow()
                        : verb.refused().orElseThrow().apply(item.failure))
                .toList();
    }

    /** Whether it concerns all items there are: then the whole call fails, and the engine leaves the server alone for a moment. */
    private boolean isOfServer(StoreException failure) {
        return !link.isCluster() && !Reply.isOfItem(failure);
    }

    /** Says now and then why items are refused: not all callers learn it. */
    private void warn(List<StoreException> failures, int all) {
        long last = warnedNanos.get();
        long now = System.nanoTime();
        if (!failures.isEmpty()
                && (last == 0 || now - last > WARN_EVERY.toNanos())
                && warnedNanos.compareAndSet(last, now)) {
            log.warn(
                    "Redis has taken {} of {} items; the others may be tried again. {}",
                    all - failures.size(),
                    all,
                    failures.get(0).getMessage());
        }
    }

    /**
     * Reads.
     *
     * @throws StoreUnavailable if nothing can be read
     * @throws StoreRejected if it is a single item that cannot be read
     * @throws StoreBusy if others may be readable: the caller goes on with single items
     */
    <Q, A> List<A> read(Verb<Q, A> verb, List<Q> items) {
        List<Item<Q, A>> all = items(verb, items);
        run(verb, all, false);
        readLarge(verb, all);
        return answers(all);
    }

    /** Reads for lists: an item that cannot be read is reported and left out. */
    <Q, A> List<A> readReadable(Verb<Q, Optional<A>> verb, List<Q> items, UnreadableEntries unreadable) {
        List<Item<Q, Optional<A>>> all = items(verb, items);
        run(verb, all, false);
        readLarge(verb, all);
        List<Item<Q, Optional<A>>> readable = new ArrayList<>();
        for (Item<Q, Optional<A>> item : all) {
            if (item.failure != null && Reply.isOfItem(item.failure)) {
                unreadable.report(verb.id().apply(item.request), item.failure);
            } else {
                readable.add(item);
            }
        }
        return answers(readable).stream().flatMap(Optional::stream).toList();
    }

    /** Reads what a failover cannot take back: entries that replicas have too, if those are wanted. */
    <Q, A> List<A> readAcknowledged(Verb<Q, A> verb, List<Q> items) {
        List<Item<Q, A>> all = items(verb, items);
        Replicas replicas = settings.replicas();
        int generation = link.generation();
        fail(all, replicas.refused(partitions(all)));
        run(verb, all.stream().filter(item -> item.failure == null).toList(), false);
        readLarge(verb, all);
        fail(all, replicas.await(partitions(all), generation));
        return answers(all);
    }

    private <Q, A> List<A> answers(List<Item<Q, A>> all) {
        List<StoreException> failures = failures(all);
        for (StoreException failure : failures) {
            String message = String.valueOf(failure.getMessage());
            if (all.size() == 1 && Reply.isOfItem(failure)) {
                // Not unavailable: other entries can be read.
                throw new StoreRejected(message, failure);
            }
            throw link.isCluster() || failures.size() < all.size()
                    ? new StoreBusy(message, failure)
                    : new StoreUnavailable(message, failure);
        }
        return all.stream()
                .map(item -> Optional.ofNullable(item.answer).orElseThrow())
                .toList();
    }

    /** The values, or {@link StoreUnavailable}: a read that fails changed nothing. */
    static List<Object> checkRead(Reply reply) {
        StoreException failure = reply.failure();
        if (failure != null) {
            throw new StoreUnavailable(String.valueOf(failure.getMessage()), failure);
        }
        return reply.values();
    }

    private static <Q, A> List<StoreException> failures(List<Item<Q, A>> items) {
        List<StoreException> failures = new ArrayList<>();
        for (Item<Q, A> item : items) {
            if (item.failure != null) {
                failures.add(item.failure);
            }
        }
        return failures;
    }

    private <Q, A> List<Item<Q, A>> items(Verb<Q, A> verb, List<Q> requests) {
        List<Item<Q, A>> items = new ArrayList<>(requests.size());
        for (Q request : requests) {
            byte[] member = Partitions.member(verb.id().apply(request));
            int partition = partitions.of(member);
            byte[] key = Partitions.joined(bases.get(partition), member);
            items.add(new Item<>(request, partition, key, verb.arguments().apply(request)));
        }
        return items;
    }

    private <Q, A> void run(Verb<Q, A> verb, List<Item<Q, A>> items, boolean isWrite) {
        Deque<List<Item<Q, A>>> waiting = new ArrayDeque<>(calls(items));
        boolean isFirst = true;
        while (!waiting.isEmpty()) {
            List<List<Item<Q, A>>> calls = new ArrayList<>();
            long bytes = 0;
            while (!waiting.isEmpty() && bytes < PIPELINE_BYTES_MAX) {
                List<Item<Q, A>> call = waiting.remove();
                bytes += call.stream().mapToLong(Item::bytes).sum();
                calls.add(call);
            }
            List<Request> requests = calls.stream()
                    .map(call -> request(verb.script(), call, isWrite))
                    .toList();
            List<Reply> replies;
            try {
                replies = pipeline.send(requests);
            } catch (StoreUnavailable e) {
                if (isFirst) {
                    throw e;
                }
                // Earlier calls have changed their items.
                replies = Collections.nCopies(calls.size(), new Reply(List.of(), e));
            }
            isFirst = false;
            for (int i = 0; i < calls.size(); i++) {
                List<Item<Q, A>> rest = answer(verb, calls.get(i), replies.get(i), isWrite);
                if (!rest.isEmpty()) {
                    waiting.addFirst(rest);
                }
            }
        }
    }

    /** What goes together: everything, or all that is in one partition, up to a number of bytes. */
    private <Q, A> List<List<Item<Q, A>>> calls(List<Item<Q, A>> items) {
        Map<Integer, List<Item<Q, A>>> open = new TreeMap<>();
        Map<Integer, Integer> bytes = new TreeMap<>();
        List<List<Item<Q, A>>> calls = new ArrayList<>();
        for (Item<Q, A> item : items) {
            int group = link.isCluster() ? item.partition : 0;
            if (bytes.merge(group, item.bytes(), Integer::sum) > CALL_BYTES_MAX) {
                bytes.put(group, item.bytes());
                open.remove(group);
            }
            List<Item<Q, A>> call = open.get(group);
            if (call == null || call.size() == CALL_ITEMS_MAX) {
                call = new ArrayList<>();
                open.put(group, call);
                calls.add(call);
            }
            call.add(item);
        }
        return calls;
    }

    private <Q, A> Request request(Script script, List<Item<Q, A>> call, boolean isWrite) {
        List<byte[]> keys = new ArrayList<>(call.size());
        // A slot of a cluster that moves answers commands for one key alone: a read must not need another one.
        boolean isMarked = isWrite || !link.isCluster();
        List<byte[]> marks = call.stream()
                .filter(item -> isMarked)
                .map(item -> item.partition)
                .distinct()
                .map(this.marks::get)
                .toList();
        List<byte[]> arguments = new ArrayList<>(settings.arguments(marks.size()));
        for (Item<Q, A> item : call) {
            keys.add(item.key);
            arguments.addAll(item.arguments);
        }
        if (isWrite && link.isCluster()) {
            keys.addAll(partitions.indexes(call.get(0).partition));
        }
        keys.addAll(marks);
        return Request.script(script, keys, arguments);
    }

    /** Hands the answers to the items of a call; returns those that were left for the next one. */
    private static <Q, A> List<Item<Q, A>> answer(
            Verb<Q, A> verb, List<Item<Q, A>> call, Reply reply, boolean isWrite) {
        if (reply.failure() != null) {
            call.forEach(item -> item.failure = reply.failure());
            return List.of();
        }
        List<Object> answers = reply.values().subList(1, reply.values().size());
        Instant now = now(reply.values());
        for (int i = 0; i < answers.size(); i++) {
            Item<Q, A> item = call.get(i);
            item.failure = Reply.failure(answers.get(i));
            if (!isWrite && Reply.isLarge(answers.get(i))) {
                item.largeAt = now;
            } else if (item.failure == null) {
                read(verb, item, answers.get(i), now);
            }
        }
        return call.subList(answers.size(), call.size());
    }

    private static <Q, A> void read(Verb<Q, A> verb, Item<Q, A> item, @Nullable Object answer, Instant now) {
        try {
            item.answer = verb.reading().read(item.request, answer, now);
        } catch (StoreUnavailable e) {
            item.failure = e;
        }
    }

    /** Reads those that were left out, one by one. */
    private <Q, A> void readLarge(Verb<Q, A> verb, List<Item<Q, A>> items) {
        for (Item<Q, A> item : items) {
            Instant at = item.largeAt;
            if (at != null) {
                Reply reply = settings.large().read(item.key);
                item.failure = reply.failure();
                if (item.failure == null) {
                    read(verb, item, reply.values().get(0), at);
                }
            }
        }
    }

    private static <Q, A> List<Integer> partitions(List<Item<Q, A>> items) {
        return items.stream()
                .filter(item -> item.failure == null)
                .map(item -> item.partition)
                .distinct()
                .toList();
    }

    private static <Q, A> void fail(List<Item<Q, A>> items, Map<Integer, StoreException> failures) {
        for (Item<Q, A> item : items) {
            if (item.failure == null) {
                item.failure = failures.get(item.partition);
            }
        }
    }

    /** Every script answers with the server's clock first. */
    static Instant now(List<Object> values) {
        return StoredEntry.instant((long) (Long) values.get(0));
    }
}
