package dev.onlyonce.redis;

import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreMark;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.resource.ClientResources;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** A clock for tests: a key in every partition, so that every node sees the same one, and it stands still. */
final class RedisClock implements AutoCloseable {
    /** What a store is given instead of the server's clock. */
    static final String LUA = """
            local function now()
              return tonumber(redis.call('GET', string.match(KEYS[1], '^.-}:') .. 'clock'))
            end
            """;

    /** Before the server's own clock, so that ids in its streams are never before the time in their records. */
    private static final long START = Duration.ofDays(11_000).toMillis() * 1000;

    private final ClientResources resources = ClientResources.create();
    private final Link link;
    private final Pipeline pipeline;
    private final Partitions partitions;
    private final String url;
    private final List<RedisStore> nodes = new ArrayList<>();

    RedisClock(String url) {
        this.url = url;
        link = LinkOpening.open(LinkOpening.Servers.trusting(RedisUrl.of(url).servers(), null), resources);
        partitions = new Partitions("onlyonce", link.isCluster() ? Partitions.COUNT_CLUSTER : Partitions.COUNT_SINGLE);
        pipeline =
                new Pipeline(link, new ServerCheck(link, Duration.ofSeconds(10), true, false), Duration.ofSeconds(10));
    }

    Partitions partitions() {
        return partitions;
    }

    /** Deletes everything but the mark of the store, which the nodes know, and starts the clock again. */
    void start() {
        Marks marks = new Marks(pipeline, partitions);
        Optional<StoreMark> mark = marks.read();
        link.masters().forEach(master -> master.sync().flushall());
        mark.ifPresent(marks::write);
        send(CommandType.SET, START);
    }

    void advance(Duration span) {
        send(CommandType.INCRBY, span.toSeconds() * 1_000_000 + span.toNanosPart() / 1000);
    }

    private void send(CommandType type, long micros) {
        List<Request> requests = IntStream.range(0, partitions.count())
                .mapToObj(partition -> Request.command(type, partitions.key(partition, "clock"), Verbs.number(micros)))
                .toList();
        pipeline.send(requests).forEach(Reply::checkRead);
    }

    /** A node of its own for each number; all follow this clock. Kept for the next test: closing it does nothing. */
    Store node(int number) {
        while (nodes.size() <= number) {
            nodes.add(RedisStore.builder(url)
                    .resources(resources)
                    .clock(LUA)
                    .timeout(Duration.ofSeconds(20))
                    .build());
        }
        RedisStore node = nodes.get(number);
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, arguments) -> {
                    try {
                        return method.getName().equals("close") ? null : method.invoke(node, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Override
    public void close() {
        nodes.forEach(RedisStore::close);
        link.close();
        var unused = resources.shutdown();
    }
}
