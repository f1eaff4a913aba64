package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Terms;
import dev.onlyonce.testservers.RedisCluster;
import dev.onlyonce.testservers.RedisServer;
import io.lettuce.core.protocol.CommandType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Function;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A short script of Redis")
class ShortWayTest {
    private static final int STEPS = Integer.getInteger("onlyonce.redis.steps", 150);
    private static final int LARGE_BYTES = 1 << 20;
    private static final long TTL_APART_MS = 60_000;
    private static final List<Duration> JUMPS = List.of(
            Duration.ofNanos(1000),
            Duration.ofMillis(1),
            Duration.ofMillis(999),
            Duration.ofSeconds(1),
            Duration.ofSeconds(1),
            Duration.ofMinutes(10),
            Duration.ofHours(1),
            Duration.ofHours(30),
            Duration.ofSeconds(-1),
            Duration.ofMinutes(-10));

    private Random random = new Random();
    private final List<EntryId> ids = new ArrayList<>();
    private final Map<EntryId, List<UUID>> tokens = new HashMap<>();

    @ParameterizedTest
    @EnumSource(AuditLevel.class)
    @DisplayName("C1 C4 leaves and answers what the plan would have")
    void same(AuditLevel audit) {
        try (RedisServer server = RedisServer.start()) {
            run(server.url(), audit, List.of(server));
        }
    }

    @ParameterizedTest
    @EnumSource(AuditLevel.class)
    @DisplayName("C1 C4 leaves and answers what the plan would have, in a cluster")
    void sameInCluster(AuditLevel audit) {
        try (RedisCluster cluster = RedisCluster.start()) {
            run(cluster.url(), audit, cluster.servers());
        }
    }

    private void run(String url, AuditLevel audit, List<RedisServer> servers) {
        long seed = Long.getLong("onlyonce.redis.seed", System.nanoTime());
        random = new Random(seed);
        for (int i = 0; i < 90; i++) {
            ids.add(id(i));
        }
        try (Twin quick = new Twin(url, "short", audit, true);
                Twin plan = new Twin(url, "plans", audit, false)) {
            for (int step = 0; step < STEPS; step++) {
                String what = "seed " + seed + ", step " + step + ": ";
                try {
                    what += step(List.of(quick, plan), servers, audit);
                } catch (AssertionError e) {
                    throw new AssertionError(what + e.getMessage(), e);
                }
                compare(what, quick.dump(), plan.dump());
            }
        }
    }

    private static EntryId id(int i) {
        return switch (i % 10) {
            case 7 -> new EntryId("é".repeat(255), "ü".repeat(255), "k".repeat(250) + i);
            case 8 -> new EntryId("plans:{0}:e:", "}:e:", "short:{1}:e:" + i);
            case 9 -> new EntryId("", "", "" + i);
            default -> new EntryId("acme", i % 2 == 0 ? "" : "POST", "key-" + i);
        };
    }

    private String step(List<Twin> twins, List<RedisServer> servers, AuditLevel audit) {
        int kind = random.nextInt(100);
        if (kind < 40) {
            List<ClaimRequest> claims = some().stream().map(this::claim).toList();
            return both(
                    "claim",
                    twins,
                    t -> t.claim(claims).stream().map(ShortWayTest::shown).toList());
        } else if (kind < 68) {
            List<Settlement> settlements = some().stream().map(this::settlement).toList();
            return both("settle", twins, t -> t.settle(settlements));
        } else if (kind < 72) {
            List<Renewal> renewals = some().stream()
                    .map(id -> new Renewal(id, token(id), Duration.ofSeconds(1 + random.nextInt(3))))
                    .toList();
            return both("renew", twins, t -> t.store.renew(renewals));
        } else if (kind < 84) {
            Duration jump = JUMPS.get(random.nextInt(JUMPS.size()));
            twins.forEach(twin -> twin.advance(jump));
            return "advance " + jump;
        } else if (kind < 87) {
            return both("sweep", twins, t -> t.store.sweep(1000).size());
        } else if (kind < 89) {
            return both("purge", twins, t -> t.store.purge(1000));
        } else if (kind < 92) {
            List<Resolution> resolutions = some().stream()
                    .map(id -> random.nextBoolean()
                            ? Resolution.found(id, 1, Optional.of(new byte[3]), "ann", "found")
                            : Resolution.absent(id, 1, "ann", "absent"))
                    .toList();
            return both("resolve", twins, t -> t.store.resolve(resolutions));
        } else if (kind < 94) {
            EntryId id = ids.get(random.nextInt(ids.size()));
            return both("evict", twins, t -> t.store.evict(id, "ann", "test"));
        } else if (kind < 96) {
            return damaged(twins);
        } else if (kind < 98) {
            return wrongIndex(twins, audit);
        } else if (kind < 99) {
            servers.forEach(server -> server.command("CONFIG", "SET", "maxmemory", "1"));
            List<ClaimRequest> claims = some().stream().map(this::claim).toList();
            List<Settlement> settlements = some().stream().map(this::settlement).toList();
            both(
                    "claim oom",
                    twins,
                    t -> t.claim(claims).stream().map(ShortWayTest::shown).toList());
            both("settle oom", twins, t -> t.settle(settlements));
            servers.forEach(server -> server.command("CONFIG", "SET", "maxmemory", "0"));
            return "out of memory";
        }
        servers.forEach(server -> server.command("SCRIPT", "FLUSH"));
        return "flush";
    }

    private List<EntryId> some() {
        List<EntryId> shuffled = new ArrayList<>(ids);
        Collections.shuffle(shuffled, random);
        int count = random.nextInt(4) == 0 ? ids.size() : 1 + random.nextInt(12);
        List<EntryId> some = new ArrayList<>(shuffled.subList(0, Math.min(count, shuffled.size())));
        if (random.nextInt(3) == 0) {
            for (int i = random.nextInt(40); i > 0; i--) {
                EntryId fresh = id(1000 + random.nextInt(1 << 24));
                if (!some.contains(fresh)) {
                    some.add(fresh);
                    ids.set(random.nextInt(ids.size()), fresh);
                }
            }
        }
        return some.stream().distinct().toList();
    }

    private UUID token(EntryId id) {
        List<UUID> known = tokens.getOrDefault(id, List.of());
        if (known.isEmpty() || random.nextInt(12) == 0) {
            return new UUID(random.nextLong(), random.nextLong());
        }
        return known.get(random.nextInt(6) == 0 ? random.nextInt(known.size()) : 0);
    }

    private ClaimRequest claim(EntryId id) {
        UUID token = random.nextInt(8) == 0 ? token(id) : new UUID(random.nextLong(), random.nextLong());
        // The first is what most settlements use: mostly the one that got the entry.
        List<UUID> known = tokens.computeIfAbsent(id, any -> new ArrayList<>());
        known.add(random.nextInt(3) == 0 ? 0 : known.size(), token);
        Fingerprint fingerprint = Fingerprint.of(new byte[] {(byte) (random.nextInt(10) == 0 ? 1 : 0)});
        return new ClaimRequest(
                id,
                random.nextInt(10) == 0 ? "ö".repeat(255) : "POST /payments",
                random.nextInt(3) == 0 ? fingerprint.about("order " + random.nextInt(5)) : fingerprint,
                token,
                random.nextInt(5) == 0 ? "" : "node-" + random.nextInt(3),
                new Terms(
                        Duration.ofMillis(random.nextBoolean() ? 1000 : 100 + random.nextInt(600_000)),
                        random.nextBoolean() ? OnLeaseLost.UNKNOWN : OnLeaseLost.RETRY,
                        List.of(Duration.ZERO, Duration.ofMillis(1), Duration.ofHours(1), Terms.RETENTION_MAX)
                                .get(random.nextInt(4)),
                        List.of(Duration.ZERO, Duration.ofHours(2), Terms.RETENTION_MAX)
                                .get(random.nextInt(3))),
                random.nextInt(8) == 0 ? State.PENDING : State.PROCESSING);
    }

    private Settlement settlement(EntryId id) {
        State to = List.of(
                        State.COMPLETED, State.COMPLETED, State.COMPLETED, State.FAILED, State.RETRYABLE, State.UNKNOWN)
                .get(random.nextInt(6));
        byte[] result = null;
        if (to.isAnswered() && random.nextInt(4) != 0) {
            int size = random.nextInt(60) == 0 ? LARGE_BYTES : random.nextInt(3) == 0 ? 0 : random.nextInt(500);
            result = new byte[size];
            random.nextBytes(result);
        }
        String reason = List.of("", "done", "é".repeat(300)).get(random.nextInt(3));
        return Settlement.of(id, token(id), to, Optional.ofNullable(result), reason);
    }

    private String damaged(List<Twin> twins) {
        List<EntryId> some = some();
        EntryId bad = some.get(random.nextInt(some.size()));
        int how = random.nextInt(5);
        int length = random.nextInt(160);
        byte[] garbage = new byte[1 + random.nextInt(30)];
        random.nextBytes(garbage);
        int at = random.nextInt(130);
        for (Twin twin : twins) {
            byte[] entry = twin.entry(bad);
            switch (how) {
                case 0 -> twin.send(CommandType.SETRANGE, entry, Verbs.number(0), new byte[] {99});
                case 1 -> {
                    twin.send(CommandType.DEL, entry);
                    twin.send(CommandType.HSET, entry, entry, entry);
                }
                case 2, 3 -> twin.truncate(entry, length);
                default -> twin.send(CommandType.SETRANGE, entry, Verbs.number(at), garbage);
            }
        }
        List<ClaimRequest> claims = some.stream().map(this::claim).toList();
        List<Settlement> settlements = some.stream().map(this::settlement).toList();
        String what = "damage " + how + " length " + length + " at " + at + " ";
        both(what + "settle", twins, t -> t.settle(settlements));
        compare(what + "settle", twins.get(0).dump(), twins.get(1).dump());
        both(
                what + "claim",
                twins,
                t -> t.claim(claims).stream().map(ShortWayTest::shown).toList());
        compare(what + "claim", twins.get(0).dump(), twins.get(1).dump());
        twins.forEach(twin -> twin.send(CommandType.DEL, twin.entry(bad)));
        return what;
    }

    private String wrongIndex(List<Twin> twins, AuditLevel audit) {
        List<EntryId> some = some();
        EntryId any = some.get(0);
        boolean isClaim = random.nextBoolean();
        List<String> indexes = isClaim
                ? List.of("ids", "leases")
                : audit == AuditLevel.ALL
                        ? List.of("leases", "expiries", "audit", "audited")
                        : List.of("leases", "expiries");
        String index = indexes.get(random.nextInt(indexes.size()));
        for (Twin twin : twins) {
            twin.send(CommandType.DEL, twin.index(any, index));
            twin.send(CommandType.HSET, twin.index(any, index), new byte[1], new byte[1]);
        }
        String what = "wrong " + index + (isClaim ? " claim" : " settle");
        if (isClaim) {
            List<ClaimRequest> claims = some.stream().map(this::claim).toList();
            both(
                    what,
                    twins,
                    t -> t.claim(claims).stream().map(ShortWayTest::shown).toList());
        } else {
            List<Settlement> settlements = some.stream().map(this::settlement).toList();
            both(what, twins, t -> t.settle(settlements));
        }
        compare(what, twins.get(0).dump(), twins.get(1).dump());
        twins.forEach(twin -> twin.send(CommandType.DEL, twin.index(any, index)));
        return what;
    }

    private static String both(String what, List<Twin> twins, Function<Twin, Object> call) {
        List<String> answers = twins.stream().map(twin -> answer(twin, call)).toList();
        assertThat(answers.get(0)).as(what).isEqualTo(answers.get(1));
        return what + " " + (System.getProperty("onlyonce.redis.log") == null ? "" : answers.get(0));
    }

    private static String answer(Twin twin, Function<Twin, Object> call) {
        try {
            return String.valueOf(call.apply(twin));
        } catch (StoreException e) {
            return e.getClass() + " " + short_(String.valueOf(e.getMessage()));
        }
    }

    private static String short_(String message) {
        return message.replaceAll("(user_script:|f_|script: ?)[0-9a-f]+", "");
    }

    private static String shown(ClaimResult result) {
        if (result instanceof ClaimResult.Existing existing) {
            Entry entry = existing.entry();
            int hash = Arrays.hashCode(entry.result());
            return entry.withResult(new byte[0]).toString().replaceAll("result=\\[B@[0-9a-f]+", "result") + hash;
        }
        return short_(result.toString());
    }

    private static void compare(String what, Map<String, Twin.Stored> left, Map<String, Twin.Stored> right) {
        for (String key : new TreeSet<>(left.keySet())) {
            Twin.Stored one = left.get(key);
            Twin.Stored other = right.get(key);
            assertThat(other).as(what + " " + key).isNotNull();
            assertThat(one.type()).as(what + " " + key).isEqualTo(other.type());
            assertThat(one.values()).as(what + " " + key).isEqualTo(other.values());
            assertThat(Math.abs(one.ttlMs() - other.ttlMs()))
                    .as(what + " " + key)
                    .isLessThan(TTL_APART_MS);
        }
        assertThat(left.keySet()).as(what).isEqualTo(right.keySet());
    }
}
