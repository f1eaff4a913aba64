package dev.onlyonce.redis;

import dev.onlyonce.redis.LinkOpening.Servers;
import dev.onlyonce.store.Time;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way to a Redis that nobody depends on.
 *
 * <ol>
 *   <li>Reads wait for the time-out and no longer. Writes are not waited for, and dropped if too many bytes are under way.
 *   <li>After a failure Redis is left alone for a second. Then one caller tries again, and the others follow if that succeeds.
 *   <li>A Redis that cannot be reached at the start is tried again in the background.
 * </ol>
 *
 * Nothing here throws. Any number of threads.
 */
final class CacheConnection implements AutoCloseable {
    /** How long Redis is left alone after a failure. */
    static final Duration PAUSE = Duration.ofSeconds(1);

    private static final Duration RECONNECT_MAX = Duration.ofSeconds(2);
    private static final long WRITING_BYTES_MAX = 16 << 20;
    private static final int COMMAND_BYTES = 200;
    private static final Logger log = LoggerFactory.getLogger(CacheConnection.class);

    private final Servers servers;
    private final ClientResources resources;
    private final Duration timeout;
    private final Time time;
    private final Script ask = Script.alone("cache-ask");
    private final AtomicLong writingBytes = new AtomicLong();
    /** When Redis may be asked again; 0 while it works. */
    private final AtomicLong pausedUntilNanos = new AtomicLong();

    private volatile @Nullable Link link;
    private volatile boolean closed;
    private volatile CompletableFuture<?> lastWrite = CompletableFuture.completedFuture(null);

    CacheConnection(Servers servers, ClientResources resources, Duration timeout, Time time) {
        this.servers = servers;
        this.resources = resources;
        this.timeout = timeout;
        this.time = time;
        connect();
    }

    /** Threads that come back to Redis soon after it is there again. */
    static ClientResources resources() {
        return ClientResources.builder()
                .reconnectDelay(Delay.exponential(Duration.ofMillis(10), RECONNECT_MAX, 2, TimeUnit.MILLISECONDS))
                .build();
    }

    private synchronized void connect() {
        if (closed) {
            return;
        }
        try {
            Link opened = LinkOpening.open(servers, resources);
            // A cluster's servers are connected now: the first command for each would be refused meanwhile.
            var unused = opened.masters();
            link = opened;
            failed(false, "");
        } catch (RuntimeException e) {
            // Also what something else than Redis makes of its answers.
            failed(true, e.getMessage());
            time.schedule(PAUSE, this::connect);
        }
    }

    /** Whether the last call succeeded. */
    boolean isWell() {
        return link != null && pausedUntilNanos.get() == 0;
    }

    Duration timeout() {
        return timeout;
    }

    /**
     * Reads values, and notes for the absent ones that this caller asks the store.
     *
     * @param noteFor how long the notes hold
     * @return one for each key, in their order; empty if Redis does not answer in time
     */
    Optional<List<Optional<byte[]>>> ask(List<byte[]> keys, Duration noteFor) {
        Link to = usable();
        if (to == null) {
            return Optional.empty();
        }
        byte[] note = Verbs.number(noteFor.toMillis());
        List<Request> requests = keys.stream()
                .map(key -> Request.script(ask, List.of(key), List.of(note)))
                .toList();
        try {
            // Whatever the server loses, the store has.
            ServerCheck none = new ServerCheck(to, timeout, true, false);
            List<Reply> replies = new Pipeline(to, none, timeout).sendUnchecked(requests);
            for (Reply reply : replies) {
                if (reply.failure() != null) {
                    throw reply.failure();
                }
            }
            failed(false, "");
            return Optional.of(replies.stream().map(CacheConnection::value).toList());
        } catch (RuntimeException e) {
            // A caller who does not wait says nothing about Redis.
            if (!Thread.currentThread().isInterrupted()) {
                failed(true, e.getMessage());
            }
            return Optional.empty();
        }
    }

    private static Optional<byte[]> value(Reply reply) {
        return reply.values().isEmpty() || !(reply.values().get(0) instanceof byte[] bytes)
                ? Optional.empty()
                : Optional.of(bytes);
    }

    /** Writes values and deletes keys, without waiting. */
    void write(List<Request> requests) {
        Link to = requests.isEmpty() ? null : usable();
        if (to == null) {
            return;
        }
        long bytes = requests.stream().mapToLong(CacheConnection::size).sum();
        if (writingBytes.addAndGet(bytes) > WRITING_BYTES_MAX) {
            writingBytes.addAndGet(-bytes);
            return;
        }
        List<AsyncCommand<byte[], byte[], List<Object>>> commands =
                requests.stream().map(Request::command).toList();
        lastWrite = CompletableFuture.allOf(commands.toArray(CompletableFuture<?>[]::new))
                .whenComplete((done, failure) -> {
                    writingBytes.addAndGet(-bytes);
                    failed(failure != null, String.valueOf(failure));
                });
        try {
            to.send(commands);
        } catch (RuntimeException e) {
            // What the store has done stays done, whatever is wrong here.
            commands.forEach(command -> command.completeExceptionally(e));
        }
    }

    static Request set(byte[] key, byte[] value, Duration ttl) {
        return Request.command(CommandType.SET, key, value, Partitions.bytes("PX"), Verbs.number(ttl.toMillis()));
    }

    static Request delete(byte[] key) {
        return Request.command(CommandType.DEL, key);
    }

    private static long size(Request request) {
        return COMMAND_BYTES
                + request.arguments().stream()
                        .mapToLong(argument -> argument.length)
                        .sum();
    }

    /** Null while Redis is left alone. */
    private @Nullable Link usable() {
        long until = pausedUntilNanos.get();
        long now = time.nanos();
        boolean mayTry =
                until == 0 || (now - until >= 0 && pausedUntilNanos.compareAndSet(until, (now + PAUSE.toNanos()) | 1));
        return mayTry ? link : null;
    }

    private void failed(boolean failed, @Nullable String why) {
        long before = pausedUntilNanos.getAndSet(failed ? (time.nanos() + PAUSE.toNanos()) | 1 : 0);
        if (failed && before == 0 && !closed) {
            log.warn("The shared cache does not answer; the store is asked instead: {}", why);
        } else if (!failed && before != 0) {
            log.info("The shared cache answers again");
        }
    }

    /** Waits until everything that was written is there, for tests. */
    void awaitWrites() {
        lastWrite.handle((done, failure) -> done).join();
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (link != null) {
            link.close();
        }
    }
}
