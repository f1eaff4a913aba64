package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Transition;
import dev.onlyonce.testservers.RedisServer;
import io.lettuce.core.resource.ClientResources;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What happens between the moment in which an entry is read and that in which it is changed. */
@DisplayName("A change in Redis")
class SwapTest {
    private static final Duration LEASE = Duration.ofMinutes(5);
    private static final Duration RETENTION = Duration.ofHours(1);
    private static final int LUA_LINES_MAX = 150;

    private static RedisServer server;
    private static RedisClock clock;
    private static ClientResources resources;
    private static Link link;

    private final ClaimRequest claim = Calls.claim("key");

    @BeforeAll
    static void connect() {
        server = RedisServer.start();
        clock = new RedisClock(server.url());
        resources = ClientResources.create();
        link = LinkOpening.open(
                LinkOpening.Servers.trusting(RedisUrl.of(server.url()).servers(), null), resources);
    }

    @AfterAll
    static void disconnect() {
        link.close();
        var unused = resources.shutdown();
        clock.close();
        server.close();
    }

    @BeforeEach
    void start() {
        clock.start();
    }

    /** A node on which something happens after its first call was answered. */
    private static Batch afterFirstCall(AuditLevel level, Runnable event) {
        AtomicInteger calls = new AtomicInteger();
        Link watched = (Link) Proxy.newProxyInstance(
                Link.class.getClassLoader(), new Class<?>[] {Link.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("send") && calls.incrementAndGet() == 2) {
                        event.run();
                    }
                    try {
                        return method.invoke(link, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        Duration timeout = Duration.ofSeconds(20);
        Pipeline pipeline = new Pipeline(watched, new ServerCheck(watched, timeout, false, false), timeout);
        Swaps swaps = new Swaps(
                watched, pipeline, clock.partitions(), new Swaps.Settings(1000, () -> "", Optional.of(RedisClock.LUA)));
        return new Batch(
                watched,
                swaps,
                new Replicas(watched, clock.partitions(), new Replicas.Wanted(0, false, timeout)),
                level);
    }

    @Test
    @DisplayName("T1 counts retention from the change, not from when the entry was read")
    void retention() {
        Store store = clock.node(0);
        store.claim(List.of(claim));
        Duration pause = RETENTION.multipliedBy(2);
        Instant read = store.now().orElseThrow();
        Batch paused = afterFirstCall(AuditLevel.ALL, () -> clock.advance(pause));
        Instant settled = read.plus(pause);
        assertThat(paused.write(new Verbs.Settle(new Claims()), List.of(Calls.completed(claim))))
                .containsExactly(new SettleResult.Settled(settled, settled.plus(RETENTION)));
        Entry entry = store.find(List.of(claim.id())).get(0).orElseThrow();
        assertThat(entry.state()).isEqualTo(State.COMPLETED);
        assertThat(entry.settledAt()).isEqualTo(settled);
        assertThat(entry.expiresAt()).isEqualTo(settled.plus(RETENTION));
    }

    @Test
    @DisplayName("D2 counts a renewed lease from the change, not from when the entry was read")
    void lease() {
        Store store = clock.node(0);
        store.claim(List.of(claim));
        clock.advance(Duration.ofMinutes(1));
        Batch paused = afterFirstCall(AuditLevel.ALL, () -> clock.advance(Duration.ofMinutes(1)));
        assertThat(paused.write(new Verbs.Renew(new Claims()), List.of(new Renewal(claim.id(), claim.token(), LEASE))))
                .containsExactly(RenewResult.RENEWED);
        Entry entry = store.find(List.of(claim.id())).get(0).orElseThrow();
        assertThat(entry.leaseUntil()).isEqualTo(store.now().orElseThrow().plus(LEASE));
        clock.advance(LEASE.minusSeconds(1));
        assertThat(store.sweep(10)).isEmpty();
        clock.advance(Duration.ofSeconds(1));
        assertThat(store.sweep(10)).extracting(Transition::id).containsExactly(claim.id());
    }

    @Test
    @DisplayName("C2 is not made of an entry that somebody has changed since: the rules are asked again")
    void changedMeanwhile() {
        Store store = clock.node(0);
        store.claim(List.of(claim));
        Batch fenced = afterFirstCall(AuditLevel.ALL, () -> {
            clock.advance(LEASE);
            assertThat(store.sweep(10)).hasSize(1);
            store.resolve(List.of(new Resolution(claim.id(), 1, State.RETRYABLE, null, "alice", "absent")));
        });
        assertThat(fenced.write(new Verbs.Settle(new Claims()), List.of(Calls.completed(claim))))
                .containsExactly(new SettleResult.Lost(State.RETRYABLE));
        Entry entry = store.find(List.of(claim.id())).get(0).orElseThrow();
        assertThat(entry.state()).isEqualTo(State.RETRYABLE);
        assertThat(entry.result()).isNull();
    }

    @Test
    @DisplayName("S2 that becomes an exception between the two is recorded as one")
    void late() {
        Store store = clock.node(0);
        store.claim(List.of(claim));
        Batch paused = afterFirstCall(AuditLevel.EXCEPTIONS, () -> clock.advance(LEASE.plusSeconds(1)));
        assertThat(paused.write(new Verbs.Settle(new Claims()), List.of(Calls.completed(claim))))
                .hasOnlyElementsOfType(SettleResult.Settled.class);
        assertThat(store.audit(AuditQuery.all(10)))
                .extracting(record -> record.transition().to())
                .containsExactly(State.PROCESSING, State.COMPLETED);
    }

    @Test
    @DisplayName("S2 that becomes an exception leaves what is not read yet in its list to be read: nobody takes it for"
            + " absent")
    void lateWithOthers() {
        Store store = clock.node(0);
        ClaimRequest other = Calls.claim("other");
        Claims known = new Claims();
        Batch node = afterFirstCall(AuditLevel.EXCEPTIONS, () -> {});
        assertThat(node.write(new Verbs.Claim(known), List.of(claim))).containsExactly(new ClaimResult.Claimed(1));
        store.claim(List.of(other));
        clock.advance(LEASE.plusSeconds(1));
        assertThat(node.write(new Verbs.Settle(known), List.of(Calls.completed(claim), Calls.completed(other))))
                .hasOnlyElementsOfType(SettleResult.Settled.class);
        assertThat(store.find(List.of(other.id())).get(0).orElseThrow().state()).isEqualTo(State.COMPLETED);
    }

    @Test
    @DisplayName("T1 that is a note leaves an unknown entry as it is, and since when it is unknown")
    void note() {
        Store store = clock.node(0);
        store.claim(List.of(claim));
        clock.advance(LEASE);
        assertThat(store.sweep(10)).hasSize(1);
        Entry before = store.find(List.of(claim.id())).get(0).orElseThrow();
        clock.advance(Duration.ofMinutes(1));
        Batch paused = afterFirstCall(AuditLevel.ALL, () -> clock.advance(Duration.ofMinutes(1)));
        assertThat(paused.write(new Verbs.Resolve(), List.of(Resolution.note(claim.id(), 1, "ann", "asked the bank"))))
                .containsExactly(new SettleResult.Settled(Objects.requireNonNull(before.settledAt()), null));
        Entry after = store.find(List.of(claim.id())).get(0).orElseThrow();
        assertThat(after.settledAt()).isEqualTo(before.settledAt());
        assertThat(after.token()).isEqualTo(before.token());
        assertThat(store.list(new EntryQuery(null, null, State.UNKNOWN, null, null, 10)))
                .hasSize(1);
        assertThat(store.history(claim.id()))
                .last()
                .satisfies(record -> assertThat(record.transition().why()).isEqualTo("asked the bank"));
    }

    @Test
    @DisplayName("of a fresh operation is two calls of a script, alone or with others, with and without replicas")
    void calls() {
        try (RedisServer replica = RedisServer.start("replicaof 127.0.0.1 " + server.port());
                RedisStore store = RedisStore.builder(server.url()).replicas(1).build()) {
            replica.await("master_link_status:up", "INFO", "replication");
            Calls.untilTaken(() -> store.claim(List.of(Calls.claim("first"))));
            for (int count : List.of(1, 64)) {
                List<ClaimRequest> claims = IntStream.range(0, count)
                        .mapToObj(i -> Calls.claim(count + "-" + i))
                        .toList();
                server.command("CONFIG", "RESETSTAT");
                assertThat(store.claim(claims)).hasOnlyElementsOfType(ClaimResult.Claimed.class);
                assertThat(store.settle(claims.stream().map(Calls::completed).toList()))
                        .hasOnlyElementsOfType(SettleResult.Settled.class);
                String stats = server.command("INFO", "commandstats");
                assertThat(count(stats, "evalsha") + count(stats, "eval")).isEqualTo(2);
                assertThat(count(stats, "wait")).isEqualTo(2);
                if (count == 64) {
                    // Two partitions; what each entry needs of its own is one look at how it begins.
                    assertThat(count(stats, "getrange")).isEqualTo(count);
                    assertThat(count(stats, "zadd")).isEqualTo(4);
                    assertThat(count(stats, "mset")).isEqualTo(4);
                    assertThat(count(stats, "xadd")).isBetween(2, 4);
                }
            }
        }
    }

    private static int count(String stats, String command) {
        return Pattern.compile("cmdstat_" + command + ":calls=(\\d+)")
                .matcher(stats)
                .results()
                .mapToInt(found -> Integer.parseInt(found.group(1)))
                .sum();
    }

    @Test
    @DisplayName("is decided in Java: the scripts only compare and swap, and are short")
    void scripts() {
        int lines = List.of("cache-ask", "clock", "due", "history", "probe", "swap", "trim").stream()
                .mapToInt(name -> (int) new String(Script.alone(name).text(), StandardCharsets.UTF_8)
                        .lines()
                        .count())
                .sum();
        assertThat(lines).isLessThanOrEqualTo(LUA_LINES_MAX);
    }
}
