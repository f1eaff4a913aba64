package dev.onlyonce.redis;

import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Runs a script for a list of items: one call for each partition that they are in, all in one pipeline for each server. A partition
 * that fails costs the others nothing: its items are answered as busy if they were not changed.
 */
final class Batch {
    private final Link link;
    private final Pipeline pipeline;
    private final Partitions partitions;
    private final Settings settings;

    /**
     * What every script call needs.
     *
     * @param auditMax how many audit records a partition keeps
     */
    record Settings(long auditMax, Replicas replicas) {}

    Batch(Link link, Pipeline pipeline, Partitions partitions, Settings settings) {
        this.link = link;
        this.pipeline = pipeline;
        this.partitions = partitions;
        this.settings = settings;
    }

    /** Reads the answer to an item. */
    interface Reading<Q, A> {
        A read(Q item, @Nullable Object answer, Instant now);
    }

    /**
     * A verb for lists.
     *
     * @param arguments what the script takes for an item
     * @param busy the answer for an item that was not changed although others were; empty if the verb has none
     */
    record Verb<Q, A>(
            Script script,
            Function<Q, EntryId> id,
            Function<Q, List<byte[]>> arguments,
            Reading<Q, A> reading,
            Optional<A> busy) {}

    /** Writes; answers in the order of the items. */
    <Q, A> List<A> write(Verb<Q, A> verb, List<Q> items) {
        Map<Integer, List<Integer>> positions = positions(verb, items);
        List<Reply> replies = pipeline.send(requests(verb, items, positions));
        checkKnown(replies, verb.busy().isPresent());
        List<Integer> written = new ArrayList<>();
        int next = 0;
        for (int partition : positions.keySet()) {
            if (replies.get(next++).failure() == null) {
                written.add(partition);
            }
        }
        settings.replicas().await(link, partitions, written);
        return answers(verb, items, positions, replies);
    }

    /** Reads; throws {@link StoreUnavailable} if any item cannot be read. */
    <Q, A> List<A> read(Verb<Q, A> verb, List<Q> items) {
        Map<Integer, List<Integer>> positions = positions(verb, items);
        List<Reply> replies = pipeline.send(requests(verb, items, positions));
        replies.forEach(Batch::checkRead);
        return answers(verb, items, positions, replies);
    }

    /** The values, or {@link StoreUnavailable}: a read that fails changed nothing. */
    static List<Object> checkRead(Reply reply) {
        StoreException failure = reply.failure();
        if (failure != null) {
            throw new StoreUnavailable(String.valueOf(failure.getMessage()), failure);
        }
        return reply.values();
    }

    private <Q, A> Map<Integer, List<Integer>> positions(Verb<Q, A> verb, List<Q> items) {
        Map<Integer, List<Integer>> positions = new TreeMap<>();
        for (int i = 0; i < items.size(); i++) {
            positions
                    .computeIfAbsent(partitions.of(verb.id().apply(items.get(i))), partition -> new ArrayList<>())
                    .add(i);
        }
        return positions;
    }

    private <Q, A> List<Request> requests(Verb<Q, A> verb, List<Q> items, Map<Integer, List<Integer>> positions) {
        List<Request> requests = new ArrayList<>();
        positions.forEach((partition, indexes) -> {
            List<byte[]> arguments = new ArrayList<>();
            indexes.forEach(index -> arguments.addAll(verb.arguments().apply(items.get(index))));
            requests.add(request(verb.script(), partition, arguments));
        });
        return requests;
    }

    /** A script's call for one partition. */
    Request request(Script script, int partition, List<byte[]> arguments) {
        List<byte[]> all = new ArrayList<>(arguments.size() + 1);
        all.add(Partitions.bytes(Long.toString(settings.auditMax())));
        all.addAll(arguments);
        return Request.script(script, partitions.base(partition), all);
    }

    private static void checkKnown(List<Reply> replies, boolean hasBusy) {
        List<StoreException> failures = new ArrayList<>();
        for (Reply reply : replies) {
            if (reply.failure() != null) {
                failures.add(reply.failure());
            }
        }
        for (StoreException failure : failures) {
            if (failure instanceof StoreOutcomeUnknown) {
                throw failure;
            }
        }
        for (StoreException failure : failures) {
            if (failures.size() == replies.size()) {
                throw failure;
            } else if (!hasBusy) {
                throw new StoreOutcomeUnknown("Some items may have been changed. " + failure.getMessage(), failure);
            }
        }
    }

    private static <Q, A> List<A> answers(
            Verb<Q, A> verb, List<Q> items, Map<Integer, List<Integer>> positions, List<Reply> replies) {
        List<Optional<A>> answers = new ArrayList<>();
        items.forEach(item -> answers.add(verb.busy()));
        int next = 0;
        for (List<Integer> indexes : positions.values()) {
            Reply reply = replies.get(next++);
            if (reply.failure() == null) {
                Instant now = now(reply.values());
                for (int i = 0; i < indexes.size(); i++) {
                    Q item = items.get(indexes.get(i));
                    Object answer = reply.values().get(i + 1);
                    answers.set(indexes.get(i), Optional.of(verb.reading().read(item, answer, now)));
                }
            }
        }
        return answers.stream().map(Optional::orElseThrow).toList();
    }

    /** Every script answers with the server's clock first. */
    static Instant now(List<Object> values) {
        return StoredEntry.instant((long) (Long) values.get(0));
    }
}
