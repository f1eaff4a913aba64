package dev.onlyonce.redis;

import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.resource.ClientResources;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** A store with a prefix of its own. Of two on one server, one does ordinary items in short scripts, the other in the plan. */
final class Twin implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final long AUDIT_MAX = 1_000_000;
    /** Where the short way begins that the plan does not need, and where the plan begins. */
    private static final String SHORT_WAY = "local LISTS";

    private static final String PLAN = "-- Everything that is out of the ordinary.";
    /** All keys with their types, native expiries and contents. */
    private static final String DUMP = """
            #!lua flags=allow-cross-slot-keys,no-writes
            local found = {}
            for _, key in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do
              local type = redis.call('TYPE', key).ok
              local values = {}
              if type == 'string' then
                local value = redis.call('GET', key)
                values = { #value > 8192 and redis.sha1hex(value) or value }
              elseif type == 'zset' then
                values = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
              elseif type == 'stream' then
                for _, message in ipairs(redis.call('XRANGE', key, '-', '+')) do
                  values[#values + 1] = message[2][2]
                end
              end
              found[#found + 1] = { key, type, redis.call('PTTL', key), values }
            end
            return found
            """;

    private final String prefix;
    private final ClientResources resources = ClientResources.create();
    private final Link link;
    private final Pipeline pipeline;
    private final Partitions partitions;
    private final Batch batch;
    private final Batch.Verb<ClaimRequest, ClaimResult> claim;
    private final Batch.Verb<Settlement, SettleResult> settle;
    final RedisStore store;

    /** A key without what differs between twins. */
    record Stored(String type, long ttlMs, List<String> values) {}

    Twin(String url, String prefix, AuditLevel audit, boolean isShort) {
        this.prefix = prefix;
        link = LinkOpening.open(LinkOpening.Servers.trusting(RedisUrl.of(url).servers(), null), resources);
        pipeline = new Pipeline(link, new ServerCheck(link, TIMEOUT, true, false), TIMEOUT);
        partitions = new Partitions(prefix, link.isCluster() ? Partitions.COUNT_CLUSTER : Partitions.COUNT_SINGLE);
        Replicas none = new Replicas(link, partitions, new Replicas.Wanted(0, false, TIMEOUT));
        batch = new Batch(link, pipeline, partitions, new Batch.Settings(AUDIT_MAX, audit, none));
        Optional<String> clock = Optional.of(RedisClock.LUA);
        Verbs verbs = new Verbs(clock);
        claim = isShort ? verbs.claim : planned(verbs.claim);
        settle = isShort ? verbs.settle : planned(verbs.settle);
        tick(CommandType.SET, Duration.ofDays(11_000));
        store = RedisStore.builder(url)
                .resources(resources)
                .prefix(prefix)
                .audit(audit)
                .auditRecordsMax(AUDIT_MAX)
                .clock(RedisClock.LUA)
                .timeout(TIMEOUT)
                .build();
    }

    private static <Q, A> Batch.Verb<Q, A> planned(Batch.Verb<Q, A> verb) {
        String text = new String(verb.script().text(), StandardCharsets.UTF_8);
        Script planned = Script.ofText(text.substring(0, text.indexOf(SHORT_WAY)) + text.substring(text.indexOf(PLAN)));
        return new Batch.Verb<>(planned, verb.id(), verb.arguments(), verb.reading(), verb.refused());
    }

    List<ClaimResult> claim(List<ClaimRequest> claims) {
        return batch.write(claim, claims);
    }

    List<SettleResult> settle(List<Settlement> settlements) {
        return batch.write(settle, settlements);
    }

    void advance(Duration span) {
        tick(CommandType.INCRBY, span);
    }

    private void tick(CommandType type, Duration span) {
        byte[] micros = Verbs.number(span.toSeconds() * 1_000_000 + span.toNanosPart() / 1000);
        pipeline.send(IntStream.range(0, partitions.count())
                        .mapToObj(partition -> Request.command(type, partitions.key(partition, "clock"), micros))
                        .toList())
                .forEach(Batch::checkRead);
    }

    byte[] entry(EntryId id) {
        return partitions.entry(partitions.of(id), id);
    }

    byte[] index(EntryId id, String index) {
        return partitions.key(partitions.of(id), index);
    }

    /** Damages what is stored, with a command that somebody sends. */
    void send(CommandType type, byte[] key, byte[]... arguments) {
        pipeline.send(List.of(Request.command(type, key, arguments)));
    }

    void truncate(byte[] key, int length) {
        String script = "local value = redis.pcall('GETRANGE', KEYS[1], 0, ARGV[1] - 1)"
                + " if type(value) == 'string' and value ~= '' then redis.call('SET', KEYS[1], value) end return {}";
        pipeline.send(List.of(Request.script(Script.ofText(script), List.of(key), List.of(Verbs.number(length)))));
    }

    /** Everything that is stored, by key. */
    Map<String, Stored> dump() {
        Map<String, Stored> all = new TreeMap<>();
        byte[][] none = {};
        for (StatefulRedisConnection<byte[], byte[]> master : link.masters()) {
            List<List<Object>> found =
                    master.sync().eval(DUMP, ScriptOutputType.MULTI, none, prefix.getBytes(StandardCharsets.UTF_8));
            for (List<Object> each : found) {
                String key = text(each.get(0)).substring(prefix.length());
                List<?> values = (List<?>) each.get(3);
                all.put(
                        key,
                        new Stored(
                                text(each.get(1)),
                                (Long) each.get(2),
                                key.endsWith(":audit")
                                        ? records(values)
                                        : values.stream().map(Twin::text).toList()));
            }
        }
        return all;
    }

    private static String text(Object bytes) {
        return new String((byte[]) bytes, StandardCharsets.ISO_8859_1);
    }

    /** The records of a partition's audit, those of each entry in their order. Which of them share a message may differ. */
    private static List<String> records(List<?> messages) {
        Map<String, List<String>> records = new TreeMap<>();
        for (Object message : messages) {
            ByteBuffer in = ByteBuffer.wrap((byte[]) message);
            int count = in.get();
            long time = in.getLong();
            for (int i = 0; i < count; i++) {
                int start = in.position();
                int first = in.get(start + 2);
                in.position(start + 3 + Integer.BYTES + 2 * Long.BYTES);
                String member = StoredEntry.text(in);
                for (int texts = first == 2 ? 4 : 3; texts > 0; texts--) {
                    StoredEntry.text(in);
                }
                byte[] record = Arrays.copyOfRange(in.array(), start, in.position());
                records.computeIfAbsent(member, any -> new ArrayList<>()).add(time + " " + text(record));
            }
            if (in.hasRemaining()) {
                throw new AssertionError("a message with more than its records");
            }
        }
        return records.values().stream().flatMap(List::stream).toList();
    }

    @Override
    public void close() {
        store.close();
        link.close();
        var unused = resources.shutdown(0, 2, TimeUnit.SECONDS);
    }
}
