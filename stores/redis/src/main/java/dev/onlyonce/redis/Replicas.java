package dev.onlyonce.redis;

import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolKeyword;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Waits until replicas have what was written, and until it is on disk, as far as that is wanted.
 *
 * <ol>
 *   <li>After the writes, each master is asked to wait for its replicas; all masters at once.
 *   <li>What too few replicas have in time is in doubt: the master has it, and a failover may lose it.
 *   <li>From then on that master is sent nothing, so that it costs the others no time, until it has its replicas again. Each call
 *       that would need it has it asked, without waiting for the answer. If that lasts, another server may be the master.
 * </ol>
 */
final class Replicas {
    private static final String MARK = "written";
    /** A server without memory takes it: the first change needs none. */
    private static final byte[] WRITE_MARK =
            Partitions.bytes("redis.call('DEL', KEYS[1]) redis.call('SET', KEYS[1], '', 'PX', '1')");
    /** What part of a call's time replicas get: whoever else uses the connection has to wait for them too. */
    private static final int PARTS = 4;

    private static final int PROBE_MILLIS = 1;
    /** How long a master may lack replicas before somebody is asked whether it still is the master, and how often from then on. */
    private static final Duration LACKING_MAX = Duration.ofSeconds(2);

    private final Link link;
    private final Partitions partitions;
    private final Wanted wanted;
    /** Masters that had too few replicas. */
    private final Map<StatefulRedisConnection<byte[], byte[]>, Lack> lacking = new ConcurrentHashMap<>();

    /** Whether a master is being asked for its replicas, and since when nobody was asked who the master is. */
    private record Lack(AtomicBoolean isAsked, AtomicLong sinceNanos) {
        Lack() {
            this(new AtomicBoolean(), new AtomicLong(System.nanoTime()));
        }

        boolean isLong() {
            long since = sinceNanos.get();
            long now = System.nanoTime();
            return now - since > LACKING_MAX.toNanos() && sinceNanos.compareAndSet(since, now);
        }
    }

    /**
     * What must have a change before it is answered.
     *
     * @param count how many replicas
     * @param isOnDisk whether it must be on disk, there and on the master
     * @param timeout of a call
     */
    record Wanted(int count, boolean isOnDisk, Duration timeout) {
        private boolean isNothing() {
            return count == 0 && !isOnDisk;
        }

        /** Asks a master to wait: answers how many replicas have it; before that, with disks, whether the master itself has. */
        Command<byte[], byte[], List<Object>> command(long millis) {
            CommandArgs<byte[], byte[]> args = new CommandArgs<>(ByteArrayCodec.INSTANCE);
            if (isOnDisk) {
                args.add(1);
            }
            args.add(count).add(millis);
            return new Command<>(
                    isOnDisk ? WAITAOF : CommandType.WAIT, new NestedMultiOutput<>(ByteArrayCodec.INSTANCE), args);
        }

        private boolean isMet(List<Object> answer) {
            return (Long) answer.get(answer.size() - 1) >= count && (!isOnDisk || (Long) answer.get(0) >= 1);
        }

        private String shown(List<Object> answer) {
            return (isOnDisk ? "on disk " + answer.get(0) + " of 1 masters and " : "") + answer.get(answer.size() - 1)
                    + " of " + count + " replicas";
        }
    }

    /** Lettuce does not know it. */
    private static final ProtocolKeyword WAITAOF = new ProtocolKeyword() {
        private final byte[] name = Partitions.bytes("WAITAOF");

        @Override
        public byte[] getBytes() {
            return name;
        }

        @Override
        public String toString() {
            return "WAITAOF";
        }
    };

    Replicas(Link link, Partitions partitions, Wanted wanted) {
        this.link = link;
        this.partitions = partitions;
        this.wanted = wanted;
    }

    /**
     * Whether the user may wait at all.
     *
     * @throws StoreException if not
     */
    void checkRight() {
        if (wanted.isNothing()) {
            return;
        }
        for (StatefulRedisConnection<byte[], byte[]> master : link.masters()) {
            try {
                var unused = send(master, PROBE_MILLIS).get(wanted.timeout.toNanos(), TimeUnit.NANOSECONDS);
            } catch (ExecutionException e) {
                if (CommandRights.isAboutRights(String.valueOf(e.getMessage()))) {
                    throw CommandRights.lacking(wanted.isOnDisk ? "WAITAOF" : "WAIT", String.valueOf(e.getMessage()));
                }
            } catch (TimeoutException e) {
                // It is slow, or down: that is for calls to find out.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw unknown(e);
            }
        }
    }

    /** Why nothing can be written to some of these partitions now. */
    Map<Integer, StoreException> refused(Collection<Integer> touched) {
        Map<Integer, StoreException> refused = new HashMap<>();
        if (!lacking.isEmpty()) {
            masters(touched, new HashMap<>()).forEach((master, its) -> {
                Lack lack = lacking.get(master);
                if (lack != null) {
                    if (lack.isLong()) {
                        link.findMaster();
                    }
                    probe(master, lack.isAsked);
                    StoreException failure = new StoreUnavailable(
                            "Redis has fewer than " + wanted.count + " replicas, or they lag behind", null);
                    its.forEach(partition -> refused.put(partition, failure));
                }
            });
        }
        return refused;
    }

    private void probe(StatefulRedisConnection<byte[], byte[]> master, AtomicBoolean isAsked) {
        if (isAsked.compareAndSet(false, true)) {
            var unused = send(master, PROBE_MILLIS)
                    .toCompletableFuture()
                    .orTimeout(wanted.timeout.toNanos(), TimeUnit.NANOSECONDS)
                    .whenComplete((answer, failure) -> {
                        isAsked.set(false);
                        if (failure == null && wanted.isMet(answer)) {
                            lacking.remove(master);
                        }
                    });
        }
    }

    /**
     * Waits for the masters of these partitions.
     *
     * @param generation of the link before the first write
     * @param isAllWritten whether every answer rests on a change that this call has made
     * @return {@link StoreOutcomeUnknown} for each partition that too few replicas may have
     */
    Map<Integer, StoreException> await(Collection<Integer> written, int generation, boolean isAllWritten) {
        Map<Integer, StoreException> missing = new HashMap<>();
        if (wanted.isNothing()) {
            return missing;
        }
        boolean isMarked = link.isCluster() || !isAllWritten;
        List<Wait> waits = new ArrayList<>();
        masters(written, missing).forEach((master, its) -> waits.add(wait(master, its, isMarked)));
        for (Wait wait : waits) {
            try {
                check(wait);
                // Another server may have answered than the one that had the writes.
                if (link.generation() != generation) {
                    throw new StoreOutcomeUnknown(
                            "Redis was connected again, or has another master, before replicas answered", null);
                }
            } catch (StoreOutcomeUnknown e) {
                wait.partitions.forEach(partition -> missing.put(partition, e));
            }
        }
        return missing;
    }

    private Map<StatefulRedisConnection<byte[], byte[]>, List<Integer>> masters(
            Collection<Integer> touched, Map<Integer, StoreException> failures) {
        Map<StatefulRedisConnection<byte[], byte[]>, List<Integer>> masters = new LinkedHashMap<>();
        for (int partition : touched) {
            try {
                masters.computeIfAbsent(link.master(partitions.key(partition, MARK)), master -> new ArrayList<>())
                        .add(partition);
            } catch (RedisException e) {
                failures.put(partition, unknown(e));
            }
        }
        return masters;
    }

    private record Wait(
            StatefulRedisConnection<byte[], byte[]> master,
            List<Integer> partitions,
            Optional<RedisFuture<?>> marked,
            RedisFuture<List<Object>> acknowledged) {}

    /**
     * From 7.2 on, WAIT is for the last write of this connection, and what was read somebody else may have written: then a mark is written
     * first. The key is gone at once. In a cluster always: a master that moves its slot elsewhere refuses it, as it must.
     */
    private Wait wait(StatefulRedisConnection<byte[], byte[]> master, List<Integer> partitions, boolean isMarked) {
        byte[] mark = this.partitions.key(partitions.get(0), MARK);
        return new Wait(
                master,
                partitions,
                isMarked
                        ? Optional.of(master.async().eval(WRITE_MARK, ScriptOutputType.STATUS, mark))
                        : Optional.empty(),
                send(master, millis()));
    }

    private RedisFuture<List<Object>> send(StatefulRedisConnection<byte[], byte[]> master, long millis) {
        Command<byte[], byte[], List<Object>> command = wanted.command(millis);
        return master.async().dispatch(command.getType(), command.getOutput(), command.getArgs());
    }

    private void check(Wait wait) {
        try {
            if (wait.marked.isPresent()) {
                var unused = wait.marked.get().get(wanted.timeout.toNanos(), TimeUnit.NANOSECONDS);
            }
            List<Object> answer = wait.acknowledged.get(wanted.timeout.toNanos(), TimeUnit.NANOSECONDS);
            if (!wanted.isMet(answer)) {
                lacking.putIfAbsent(wait.master, new Lack());
                throw new StoreOutcomeUnknown(
                        "Only " + wanted.shown(answer) + " have it after " + millis() + " ms", null);
            }
        } catch (ExecutionException e) {
            throw unknown(e.getCause() == null ? e : e.getCause());
        } catch (TimeoutException e) {
            throw unknown(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unknown(e);
        }
    }

    private long millis() {
        return Math.max(1, wanted.timeout.toMillis() / PARTS);
    }

    private static StoreOutcomeUnknown unknown(Throwable cause) {
        return new StoreOutcomeUnknown("Whether replicas have it is not known: " + cause.getMessage(), cause);
    }
}
