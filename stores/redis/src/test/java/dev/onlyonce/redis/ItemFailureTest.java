package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Terms;
import dev.onlyonce.testservers.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.resource.ClientResources;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a server refuses, for all or for some, and lists that are large. */
@DisplayName("A list for Redis")
class ItemFailureTest {
    private static final Partitions PARTITIONS = new Partitions("onlyonce", Partitions.COUNT_SINGLE);
    private static final int MIB = 1 << 20;
    /** Expires at once, and leaves a tombstone. */
    private static final Terms TOMBSTONE =
            new Terms(Duration.ofMinutes(5), OnLeaseLost.UNKNOWN, Duration.ZERO, Duration.ofHours(1));

    private RedisServer server;
    private RedisStore store;

    @BeforeEach
    void start() {
        server = RedisServer.start();
        store = RedisStore.open(server.url());
    }

    @AfterEach
    void stop() {
        store.close();
        server.close();
    }

    private static List<ClaimRequest> claims(String prefix, int count) {
        return IntStream.range(0, count).mapToObj(i -> Calls.claim(prefix + i)).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"leases", "tenants"})
    @DisplayName(
            "D11 with a partition that somebody has put a key of another type into is taken but for that partition")
    void wrongType(String index) {
        List<ClaimRequest> claims = claims("key-", 100);
        int bad = PARTITIONS.of(claims.get(0).id());
        String key = "onlyonce:{" + bad + "}:" + index;
        assertThat(server.command("SET", key, "mine")).isEqualTo("+OK");
        List<ClaimResult> results = store.claim(claims);
        for (int i = 0; i < claims.size(); i++) {
            EntryId id = claims.get(i).id();
            boolean isBad = PARTITIONS.of(id) == bad;
            assertThat(results.get(i)).isInstanceOf(isBad ? ClaimResult.Unavailable.class : ClaimResult.Claimed.class);
            assertThat(store.find(List.of(id)).get(0).isEmpty()).isEqualTo(isBad);
        }
        assertThat(store.claim(claims.subList(0, 1)).get(0))
                .isInstanceOfSatisfying(
                        ClaimResult.Unavailable.class,
                        refused -> assertThat(refused.why()).contains("WRONGTYPE"));
        server.command("DEL", key);
        assertThat(store.claim(claims)).hasOnlyElementsOfType(ClaimResult.Claimed.class);
        assertThat(store.settle(claims.stream().map(Calls::completed).toList()))
                .hasOnlyElementsOfType(SettleResult.Settled.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"leases", "expiries", "audit", "audited"})
    @DisplayName("D11 of settlements is taken but for a partition that somebody has put a key of another type into")
    void settlementsOfWrongType(String index) {
        List<ClaimRequest> claims = claims("key-", 100);
        List<Settlement> settlements = claims.stream().map(Calls::completed).toList();
        store.claim(claims);
        int bad = PARTITIONS.of(claims.get(0).id());
        String key = "onlyonce:{" + bad + "}:" + index;
        server.command("DEL", key);
        assertThat(server.command("HSET", key, "mine", "1")).isEqualTo(":1");
        List<SettleResult> results = store.settle(settlements);
        for (int i = 0; i < claims.size(); i++) {
            EntryId id = claims.get(i).id();
            boolean isBad = PARTITIONS.of(id) == bad;
            assertThat(results.get(i)).isInstanceOf(isBad ? SettleResult.Busy.class : SettleResult.Settled.class);
            assertThat(store.find(List.of(id)).get(0).orElseThrow().state())
                    .isEqualTo(isBad ? State.PROCESSING : State.COMPLETED);
        }
        if (index.equals("audit")) {
            assertThat(server.command("GET", "onlyonce:{" + bad + "}:audited")).isEqualTo("0");
        }
        server.command("DEL", key);
        assertThat(store.history(claims.get(0).id())).hasSize(1);
        assertThat(store.settle(settlements)).hasOnlyElementsOfType(SettleResult.Settled.class);
    }

    @Test
    @DisplayName("D11 with an entry that somebody has overwritten is taken but for that entry")
    void wrongEntry() {
        List<ClaimRequest> claims = claims("key-", 10);
        byte[] bad = PARTITIONS.entry(
                PARTITIONS.of(claims.get(3).id()), claims.get(3).id());
        RedisClient client = RedisClient.create(server.url());
        client.connect(ByteArrayCodec.INSTANCE).sync().rpush(bad, bad);
        client.shutdown();
        List<ClaimResult> results = new ArrayList<>(store.claim(claims));
        assertThat(results.remove(3)).isInstanceOf(ClaimResult.Unavailable.class);
        assertThat(results).hasOnlyElementsOfType(ClaimResult.Claimed.class);
        List<EntryId> ids = claims.stream().map(ClaimRequest::id).toList();
        assertThatThrownBy(() -> store.find(ids)).isInstanceOf(StoreBusy.class);
        assertThatThrownBy(() -> store.find(List.of(ids.get(3))))
                .isInstanceOf(StoreRejected.class)
                .hasMessageContaining("WRONGTYPE");
        assertThat(store.find(List.of(ids.get(2), ids.get(4)))).doesNotContain(Optional.empty());
    }

    @Test
    @DisplayName(
            "D11 that has only items of a partition with a key of another type does not keep the engine from others")
    void onlyWrongType() {
        EntryId id = Calls.claim("bad").id();
        server.command("RPUSH", "onlyonce:{" + PARTITIONS.of(id) + "}:leases", "mine");
        Fingerprint fingerprint = Fingerprint.of(new byte[] {1});
        try (Onlyonce once = Onlyonce.builder(store).cacheBytesMax(0).build()) {
            for (int i = 0; i < 20; i++) {
                assertThatThrownBy(() -> once.execute(key(id.key()), fingerprint, String.class, claim -> "paid"))
                        .isInstanceOf(StoreUnavailable.class)
                        .hasMessageContaining("WRONGTYPE");
                Key good = key(elsewhere(id, i));
                assertThat(once.execute(good, fingerprint, String.class, claim -> "paid")
                                .orElseThrow())
                        .isEqualTo("paid");
            }
        }
    }

    private static Key key(String key) {
        return Key.of("acme", "POST /payments", key);
    }

    /** A key of another partition. */
    private static String elsewhere(EntryId id, int number) {
        return IntStream.iterate(number, i -> i + 20)
                .mapToObj(i -> "good-" + i)
                .filter(key -> PARTITIONS.of(Calls.claim(key).id()) != PARTITIONS.of(id))
                .findFirst()
                .orElseThrow();
    }

    @Test
    @DisplayName("D9 D13 of settlements is taken by a server that has run out of memory since the claims")
    void outOfMemory() {
        List<ClaimRequest> claims = claims("key-", 50);
        store.claim(claims);
        server.command("CONFIG", "SET", "maxmemory", "1");
        assertThat(store.settle(claims.stream().map(Calls::completed).toList()))
                .hasOnlyElementsOfType(SettleResult.Settled.class);
        assertThatThrownBy(() -> store.claim(claims("more-", 50)))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("OOM");
        assertThat(store.claim(claims("key-", 50))).hasOnlyElementsOfType(ClaimResult.Existing.class);
    }

    @Test
    @DisplayName("D9 D13 of renewals, and a purge, are taken by a server that has run out of memory")
    void outOfMemoryMeanwhile() {
        List<ClaimRequest> held = claims("held-", 5);
        List<ClaimRequest> expired = claims("expired-", 5).stream()
                .map(c -> new ClaimRequest(
                        c.id(), c.operation(), c.fingerprint(), c.token(), c.owner(), TOMBSTONE, c.start()))
                .toList();
        store.claim(held);
        store.claim(expired);
        store.settle(expired.stream().map(Calls::completed).toList());
        server.command("CONFIG", "SET", "maxmemory", "1");
        assertThat(store.renew(held.stream()
                        .map(c -> new Renewal(c.id(), c.token(), Duration.ofHours(1)))
                        .toList()))
                .hasSize(5)
                .containsOnly(RenewResult.RENEWED);
        assertThat(store.purge(100)).isEqualTo(5);
        assertThat(store.find(List.of(expired.get(0).id())).get(0).orElseThrow().state())
                .isEqualTo(State.EXPIRED);
    }

    @Test
    @DisplayName(
            "D9 D13 of settlements and renewals is taken by a server without memory if replicas are waited for, too")
    void outOfMemoryWithReplicas() {
        try (RedisServer replica = RedisServer.start("replicaof 127.0.0.1 " + server.port());
                RedisStore waiting =
                        RedisStore.builder(server.url()).replicas(1).build()) {
            replica.await("master_link_status:up", "INFO", "replication");
            List<ClaimRequest> claims = claims("key-", 5);
            Calls.untilTaken(() -> waiting.claim(claims));
            server.command("CONFIG", "SET", "maxmemory", "1");
            assertThat(waiting.renew(claims.stream()
                            .map(c -> new Renewal(c.id(), c.token(), Duration.ofHours(1)))
                            .toList()))
                    .containsOnly(RenewResult.RENEWED);
            assertThat(waiting.settle(claims.stream().map(Calls::completed).toList()))
                    .hasOnlyElementsOfType(SettleResult.Settled.class);
            assertThat(waiting.claim(claims("key-", 5))).hasOnlyElementsOfType(ClaimResult.Existing.class);
        }
    }

    @Test
    @DisplayName("C1 with an id twice is refused, and nothing is changed: each would be given the claim")
    void twice() {
        ClaimRequest claim = Calls.claim("key");
        List<ClaimRequest> twice = List.of(Calls.claim("other"), claim, Calls.claim("key"));
        assertThatThrownBy(() -> store.claim(twice)).isInstanceOf(IllegalArgumentException.class);
        assertThat(store.claim(List.of(claim))).containsExactly(new ClaimResult.Claimed(1));
    }

    @Test
    @DisplayName("D9 for a server that wants replicas before it writes is refused, and nothing is changed")
    void noReplicas() {
        List<ClaimRequest> claims = claims("key-", 5);
        store.claim(claims);
        server.command("CONFIG", "SET", "min-replicas-to-write", "1");
        for (Runnable call : List.<Runnable>of(
                () -> store.claim(claims("more-", 5)),
                () -> store.settle(claims.stream().map(Calls::completed).toList()),
                () -> store.renew(claims.stream()
                        .map(c -> new Renewal(c.id(), c.token(), Duration.ofHours(1)))
                        .toList()))) {
            assertThatThrownBy(call::run).isInstanceOf(StoreUnavailable.class).hasMessageContaining("NOREPLICAS");
        }
        server.command("CONFIG", "SET", "min-replicas-to-write", "0");
        assertThat(store.find(List.of(claims("more-", 1).get(0).id())).get(0)).isEmpty();
        assertThat(store.renew(claims.stream()
                        .map(c -> new Renewal(c.id(), c.token(), Duration.ofHours(1)))
                        .toList()))
                .containsOnly(RenewResult.RENEWED);
    }

    @Test
    @DisplayName(
            "D9 for a server that is busy with somebody's endless script is refused, and taken when that is killed")
    void busyScript() throws Exception {
        server.command("CONFIG", "SET", "busy-reply-threshold", "50");
        Thread hog = new Thread(() -> {
            try {
                server.command("EVAL", "\"while true do end\"", "0");
            } catch (UncheckedIOException e) {
                // It ends with the script.
            }
        });
        hog.start();
        // Other keys: one of these calls may come before the script.
        Calls.until(StoreUnavailable.class, "BUSY", () -> store.claim(claims("before-", 5)));
        server.await("+OK", "SCRIPT", "KILL");
        hog.join();
        assertThat(Calls.untilTaken(() -> store.claim(claims("key-", 5))))
                .hasOnlyElementsOfType(ClaimResult.Claimed.class);
    }

    @Test
    @DisplayName(
            "of 256 settlements with a mebibyte each, and of results of ten, is taken and read back in bounded parts")
    void large() {
        store.close();
        store = RedisStore.builder(server.url()).timeout(Duration.ofSeconds(30)).build();
        List<ClaimRequest> claims = claims("key-", 256);
        byte[] result = new byte[MIB];
        ThreadLocalRandom.current().nextBytes(result);
        store.claim(claims);
        List<Settlement> settlements = claims.stream()
                .map(c -> Settlement.of(c.id(), c.token(), State.COMPLETED, Optional.of(result), "done"))
                .toList();
        assertThat(store.settle(settlements)).hasOnlyElementsOfType(SettleResult.Settled.class);
        assertThat(store.claim(claims("key-", 64))).hasSize(64).containsOnly(new ClaimResult.Large());
        assertThat(store.find(claims("key-", 64).stream().map(ClaimRequest::id).toList()))
                .hasSize(64)
                .allSatisfy(each -> assertThat(each.orElseThrow().result()).isEqualTo(result));

        ClaimRequest ten = Calls.claim("ten");
        byte[] tenfold = Arrays.copyOf(result, 10 * MIB);
        store.claim(List.of(ten));
        store.settle(List.of(Settlement.of(ten.id(), ten.token(), State.COMPLETED, Optional.of(tenfold), "done")));
        List<EntryId> ids = new ArrayList<>(
                List.of(claims.get(0).id(), ten.id(), claims.get(1).id()));
        List<Optional<Entry>> found = store.find(ids);
        assertThat(found.get(1).orElseThrow().result()).isEqualTo(tenfold);
        assertThat(found.get(2).orElseThrow().result()).isEqualTo(result);
    }

    @Test
    @DisplayName(
            "R3 that travels in two parts tells which items were taken if there is another server before the second")
    void partlyChecked() {
        List<ClaimRequest> claims = claims("key-", 12);
        Claims known = new Claims();
        ClientResources resources = ClientResources.create();
        try (Link link = LinkOpening.open(
                LinkOpening.Servers.trusting(RedisUrl.of(server.url()).servers(), null), resources)) {
            batch(link).write(new Verbs.Claim(known), claims);
            Batch batch = batch(replacedAfterFirstCheck(link));
            List<SettleResult> results = batch.write(
                    new Verbs.Settle(known),
                    claims.stream()
                            .map(c -> Settlement.of(
                                    c.id(), c.token(), State.COMPLETED, Optional.of(new byte[MIB]), "done"))
                            .toList());
            assertThat(results).hasAtLeastOneElementOfType(SettleResult.Settled.class);
            assertThat(results).contains(new SettleResult.Busy());
        } finally {
            var unused = resources.shutdown();
        }
    }

    @Test
    @DisplayName("R3 that was taken is answered so, if there is another server before the audit is shortened")
    void beforeTheAuditIsShortened() {
        List<ClaimRequest> claims = claims("key-", 20);
        Claims known = new Claims();
        ClientResources resources = ClientResources.create();
        try (Link link = LinkOpening.open(
                LinkOpening.Servers.trusting(RedisUrl.of(server.url()).servers(), null), resources)) {
            batch(link, 1).write(new Verbs.Claim(known), claims);
            assertThat(batch(replacedAfterFirstCheck(link), 1)
                            .write(
                                    new Verbs.Settle(known),
                                    claims.stream().map(Calls::completed).toList()))
                    .hasOnlyElementsOfType(SettleResult.Settled.class);
        } finally {
            var unused = resources.shutdown();
        }
    }

    private static Batch batch(Link link) {
        return batch(link, 1000);
    }

    private static Batch batch(Link link, int auditMax) {
        Duration timeout = Duration.ofSeconds(20);
        Pipeline pipeline = new Pipeline(link, new ServerCheck(link, timeout, false, false), timeout);
        Replicas none = new Replicas(link, PARTITIONS, new Replicas.Wanted(0, false, timeout));
        Swaps swaps = new Swaps(link, pipeline, PARTITIONS, new Swaps.Settings(auditMax, () -> "", Optional.empty()));
        return new Batch(link, swaps, none, AuditLevel.ALL);
    }

    /** After the second question that follows something sent, there is a new connection, and no master at its end. */
    private static Link replacedAfterFirstCheck(Link link) {
        AtomicInteger asked = new AtomicInteger(-1);
        return (Link) Proxy.newProxyInstance(
                Link.class.getClassLoader(), new Class<?>[] {Link.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("generation")) {
                        return asked.get() >= 0 && asked.incrementAndGet() > 1 ? 1 : 0;
                    } else if (method.getName().equals("masters") && asked.get() > 1) {
                        return List.of();
                    } else if (method.getName().equals("send")) {
                        asked.compareAndSet(-1, 0);
                    }
                    return method.invoke(link, arguments);
                });
    }

    @Test
    @DisplayName("of requests for large results is answered in parts that a server with bounded buffers can send")
    void largeAnswers() {
        store.close();
        store = RedisStore.builder(server.url()).timeout(Duration.ofSeconds(30)).build();
        List<ClaimRequest> claims = claims("key-", 8);
        byte[] result = new byte[4 * MIB];
        store.claim(claims);
        store.settle(claims.stream()
                .map(c -> Settlement.of(c.id(), c.token(), State.COMPLETED, Optional.of(result), "done"))
                .toList());
        server.command("CONFIG", "SET", "client-output-buffer-limit", "\"normal 16mb 0 0\"");
        assertThat(store.claim(claims("key-", 8))).hasSize(8).containsOnly(new ClaimResult.Large());
        assertThat(store.find(claims.stream().map(ClaimRequest::id).toList()))
                .hasSize(8)
                .doesNotContain(Optional.empty());
    }

    @Test
    @DisplayName("D9 whose answers are larger than the server allows fails at once, and costs later calls nothing")
    void outputLimit() {
        ClaimRequest claim = Calls.claim("large");
        store.claim(List.of(claim));
        store.settle(List.of(
                Settlement.of(claim.id(), claim.token(), State.COMPLETED, Optional.of(new byte[4 * MIB]), "done")));
        server.command("CONFIG", "SET", "client-output-buffer-limit", "\"normal 1mb 1mb 1\"");
        assertThatThrownBy(() -> store.find(List.of(claim.id()))).isInstanceOf(StoreException.class);
        assertThat(Calls.untilTaken(() -> store.claim(claims("key-", 5))))
                .hasOnlyElementsOfType(ClaimResult.Claimed.class);
    }
}
