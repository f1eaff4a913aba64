package dev.onlyonce.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the master that Sentinel names. The old master of a planned failover serves for ten seconds more, and nothing that it
 * acknowledges then is kept.
 *
 * <ol>
 *   <li>Every Sentinel is asked twice a second, and at once when one of them publishes something about a failover.
 *   <li>The answer with the highest epoch holds: a Sentinel that is cut off repeats an old one. While most of them answer, one that does
 *       not is left out after five seconds: it may be gone since before the others were set up anew, and epochs begin again then.
 *   <li>When the master is another one, the connections are closed. What is under way on the old one is in doubt, and repeated on the new one.
 *   <li>The Sentinel that leads a failover says so 0.1 seconds before it promotes a replica. From then on nothing is sent until the new
 *       master is known, or the failover is given up.
 * </ol>
 *
 * Any number of threads.
 */
final class Sentinels implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Sentinels.class);
    private static final Duration ASK_EVERY = Duration.ofMillis(500);
    /** A Sentinel without an answer for this long is connected to again. */
    private static final Duration ANSWER_MAX = Duration.ofSeconds(1);
    /** Promoting takes a second or two. A Sentinel that dies meanwhile does not say that it gives up. */
    private static final Duration HANDOVER_MAX = Duration.ofSeconds(10);

    /** Longer than Sentinels take to tell each other of a failover. */
    private static final Duration LATEST = Duration.ofSeconds(5);

    /** Flags of replicas that are not promoted. */
    private static final Pattern GONE = Pattern.compile("_down|disconnected");

    private static final String PROMOTING = "+failover-state-select-slave";
    private static final String GIVEN_UP = "-failover-abort";
    private static final String[] EVENTS = {"*failover*", "+promoted-slave", "+switch-master"};

    private final RedisClient client;
    private final RedisURI uri;
    private final Runnable onAnotherMaster;
    private final List<Sentinel> all;
    private final ScheduledFuture<?> asking;
    private volatile @Nullable Address master;
    /** When a failover began; 0 if there is none. */
    private volatile long handoverNanos;

    private record Address(String host, int port) {}

    /** What a Sentinel says of the master, and when it said so. */
    private record Named(long epoch, Address address, long atNanos) {
        boolean isLate() {
            return System.nanoTime() - atNanos > LATEST.toNanos();
        }
    }

    /**
     * Finds the master, and follows it from then on.
     *
     * @param uri of Sentinels
     * @param onAnotherMaster closes all connections to the old one
     * @throws RedisConnectionException if no Sentinel names a master
     */
    Sentinels(ClientResources resources, RedisURI uri, SslOptions tls, Runnable onAnotherMaster) {
        this.uri = uri;
        this.onAnotherMaster = onAnotherMaster;
        client = RedisClient.create(resources);
        client.setOptions(ClientOptions.builder()
                .autoReconnect(false)
                // Takes commands on a connection that has subscribed.
                .protocolVersion(ProtocolVersion.RESP3)
                .sslOptions(tls)
                .timeoutOptions(TimeoutOptions.create())
                .socketOptions(
                        SocketOptions.builder().connectTimeout(ANSWER_MAX).build())
                .build());
        all = uri.getSentinels().stream().map(Sentinel::new).toList();
        CompletableFuture.allOf(all.stream().map(Sentinel::question).toArray(CompletableFuture<?>[]::new))
                .join();
        if (master == null) {
            client.shutdown();
            Sentinel first = all.get(0);
            throw new RedisConnectionException(
                    "No Sentinel names the master " + uri.getSentinelMasterId(), first.problem);
        }
        asking = resources
                .eventExecutorGroup()
                .scheduleWithFixedDelay(this::ask, ASK_EVERY.toMillis(), ASK_EVERY.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** The server to connect to now. */
    RedisURI master() {
        Address found = master;
        if (found == null) {
            throw new IllegalStateException("opened without a master");
        }
        RedisURI server = RedisURI.create(found.host, found.port);
        server.applySsl(uri);
        server.applyAuthentication(uri);
        server.setTimeout(uri.getTimeout());
        return server;
    }

    /** Whether a replica is just being promoted: what the master takes now may be lost. */
    boolean isHandingOver() {
        long began = handoverNanos;
        return began != 0 && System.nanoTime() - began < HANDOVER_MAX.toNanos();
    }

    /** Asks all, without waiting. */
    void ask() {
        all.forEach(Sentinel::ask);
    }

    /** As {@link Link#promotable}; empty if no Sentinel answers. */
    OptionalInt promotable(boolean isGoneCounted) {
        return all.stream()
                .map(sentinel -> sentinel.promotable(isGoneCounted))
                .flatMapToInt(OptionalInt::stream)
                .max();
    }

    private synchronized void learn() {
        Named best = null;
        for (Named named : counting()) {
            if (best == null
                    || named.epoch > best.epoch
                    || (named.epoch == best.epoch && named.address.equals(master))) {
                best = named;
            }
        }
        if (best != null && !best.address.equals(master)) {
            boolean isFirst = master == null;
            master = best.address;
            handoverNanos = 0;
            if (!isFirst) {
                log.info("Sentinel names another master: {}:{}", best.address.host, best.address.port);
                onAnotherMaster.run();
            }
        }
    }

    /** Most Sentinels together know of every failover. */
    private List<Named> counting() {
        List<Named> known = new ArrayList<>();
        for (Sentinel sentinel : all) {
            Named named = sentinel.named;
            if (named != null) {
                known.add(named);
            }
        }
        List<Named> recent = known.stream().filter(named -> !named.isLate()).toList();
        return 2 * recent.size() > all.size() ? recent : known;
    }

    @Override
    public void close() {
        asking.cancel(false);
        client.shutdown();
    }

    /** One of them. */
    private final class Sentinel extends RedisPubSubAdapter<String, String> {
        private final RedisURI its;
        private final AtomicReference<@Nullable StatefulRedisPubSubConnection<String, String>> connection =
                new AtomicReference<>();
        /** Questions that are wanted, with the one that is under way. */
        private final AtomicInteger wanted = new AtomicInteger();

        private volatile @Nullable Named named;
        private volatile @Nullable Throwable problem;

        Sentinel(RedisURI its) {
            this.its = its;
            its.setTimeout(ANSWER_MAX);
        }

        @Override
        public void message(String pattern, String channel, String message) {
            String name = uri.getSentinelMasterId();
            if (channel.equals(PROMOTING) && message.startsWith("master " + name + " ")) {
                handoverNanos = System.nanoTime() | 1;
            } else if (channel.startsWith(GIVEN_UP) && message.startsWith("master " + name + " ")) {
                handoverNanos = 0;
            }
            ask();
        }

        void ask() {
            if (wanted.getAndIncrement() == 0) {
                var unused = question().whenComplete((answered, broken) -> {
                    if (wanted.getAndSet(0) > 1) {
                        ask();
                    }
                });
            }
        }

        /** Ends without a failure, when the answer is noted. */
        CompletableFuture<?> question() {
            return connected()
                    .thenCompose(this::masterAt)
                    .orTimeout(ANSWER_MAX.toMillis(), TimeUnit.MILLISECONDS)
                    .handle((answer, failure) -> {
                        problem = failure;
                        if (failure == null) {
                            named = answer;
                            learn();
                        } else {
                            replace(null);
                        }
                        return null;
                    });
        }

        private CompletableFuture<StatefulRedisPubSubConnection<String, String>> connected() {
            StatefulRedisPubSubConnection<String, String> open = connection.get();
            if (open != null) {
                return CompletableFuture.completedFuture(open);
            }
            return connecting().thenCompose(made -> {
                replace(made);
                made.addListener(this);
                return made.async().psubscribe(EVENTS).toCompletableFuture().thenApply(subscribed -> made);
            });
        }

        /** Whatever goes wrong, the next question is asked in time. */
        private CompletableFuture<StatefulRedisPubSubConnection<String, String>> connecting() {
            try {
                return client.connectPubSubAsync(StringCodec.UTF8, its).toCompletableFuture();
            } catch (RuntimeException e) {
                return CompletableFuture.failedFuture(e);
            }
        }

        private void replace(@Nullable StatefulRedisPubSubConnection<String, String> next) {
            StatefulRedisPubSubConnection<String, String> last = connection.getAndSet(next);
            if (last != null) {
                var unused = last.closeAsync();
            }
        }

        /** The epoch first: an address may be newer than its epoch then, and is taken with the next answer. */
        private CompletableFuture<Named> masterAt(StatefulRedisPubSubConnection<String, String> open) {
            CompletableFuture<List<Object>> known = send(open, "MASTER");
            return send(open, "GET-MASTER-ADDR-BY-NAME").thenCombine(known, (address, all) -> {
                if (address.size() != 2) {
                    throw new IllegalStateException("Sentinel knows no such master");
                }
                return new Named(
                        Long.parseLong(value(all, "config-epoch")),
                        new Address(text(address.get(0)), Integer.parseInt(text(address.get(1)))),
                        System.nanoTime());
            });
        }

        OptionalInt promotable(boolean isGoneCounted) {
            StatefulRedisPubSubConnection<String, String> open = connection.get();
            if (open == null) {
                return OptionalInt.empty();
            }
            try {
                List<Object> replicas = send(open, "REPLICAS")
                        .orTimeout(ANSWER_MAX.toMillis(), TimeUnit.MILLISECONDS)
                        .join();
                return OptionalInt.of((int) replicas.stream()
                        .map(replica -> (List<?>) replica)
                        .filter(replica -> !value(replica, "slave-priority").equals("0"))
                        .filter(replica -> isGoneCounted
                                || !GONE.matcher(value(replica, "flags")).find())
                        .count());
            } catch (RuntimeException e) {
                return OptionalInt.empty();
            }
        }

        private CompletableFuture<List<Object>> send(
                StatefulRedisPubSubConnection<String, String> open, String question) {
            CommandArgs<String, String> args =
                    new CommandArgs<>(StringCodec.UTF8).add(question).addKey(uri.getSentinelMasterId());
            return open.async()
                    .dispatch(CommandType.SENTINEL, new NestedMultiOutput<>(StringCodec.UTF8), args)
                    .toCompletableFuture();
        }
    }

    /** From names and values in turn. */
    private static String value(List<?> all, String name) {
        for (int i = 0; i + 1 < all.size(); i += 2) {
            if (name.equals(text(all.get(i)))) {
                return text(all.get(i + 1));
            }
        }
        return "0";
    }

    private static String text(Object value) {
        return String.valueOf(value);
    }
}
