package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.testservers.RedisServer;
import io.lettuce.core.resource.ClientResources;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What operators ask for while everybody else works. */
@DisplayName("A list of entries in Redis")
class ListingTest {
    private static final Duration LEASE = Duration.ofMinutes(5);
    private static final int ENTRIES = 3000;
    private static final int PAGE = 100;

    private static RedisServer server;
    private static RedisClock clock;

    @BeforeAll
    static void connect() {
        server = RedisServer.start();
        clock = new RedisClock(server.url());
    }

    @AfterAll
    static void disconnect() {
        clock.close();
        server.close();
    }

    @BeforeEach
    void start() {
        clock.start();
    }

    private static List<ClaimRequest> claimed(Store store, int count) {
        List<ClaimRequest> claims =
                IntStream.range(0, count).mapToObj(i -> Calls.claim("key-" + i)).toList();
        for (int i = 0; i < count; i += Store.BATCH_MAX) {
            store.claim(claims.subList(i, Math.min(count, i + Store.BATCH_MAX)));
        }
        return claims;
    }

    private static List<EntryId> pages(Store store, EntryQuery first) {
        List<EntryId> ids = new ArrayList<>();
        EntryQuery query = first;
        List<Entry> page;
        do {
            page = store.list(query);
            page.forEach(entry -> ids.add(entry.id()));
            query = page.isEmpty()
                    ? query
                    : query.after(page.get(page.size() - 1).id());
        } while (page.size() == PAGE);
        return ids;
    }

    private static int count(String command) {
        return Pattern.compile("cmdstat_" + command + ":calls=(\\d+)")
                .matcher(server.command("INFO", "commandstats"))
                .results()
                .mapToInt(found -> Integer.parseInt(found.group(1)))
                .sum();
    }

    @Test
    @DisplayName("has each entry once over all its pages, and does not look at all ids for each page")
    void pages() {
        Store store = clock.node(0);
        List<EntryId> sorted =
                claimed(store, ENTRIES).stream().map(ClaimRequest::id).sorted().toList();
        server.command("CONFIG", "RESETSTAT");
        assertThat(pages(store, EntryQuery.all(PAGE))).isEqualTo(sorted);
        assertThat(count("zscan")).isLessThan(ENTRIES / PAGE);
    }

    @Test
    @DisplayName("has what was claimed since the page before, if that is asked for again")
    void again() {
        Store store = clock.node(0);
        claimed(store, 2 * PAGE);
        List<Entry> first = store.list(EntryQuery.all(PAGE));
        ClaimRequest late = Calls.claim("zzz");
        store.claim(List.of(late));
        EntryQuery next = EntryQuery.all(PAGE).after(first.get(PAGE - 1).id());
        store.list(next);
        assertThat(pages(store, next)).hasSize(PAGE + 1).contains(late.id());
    }

    @Test
    @DisplayName("of unknown ones looks at no more than a page, whatever else there is")
    void unknown() {
        Store store = clock.node(0);
        List<ClaimRequest> claims = claimed(store, ENTRIES);
        clock.advance(LEASE);
        int swept;
        do {
            swept = store.sweep(PAGE).size();
        } while (swept > 0);
        for (ClaimRequest claim : claims.subList(0, PAGE)) {
            store.resolve(List.of(Resolution.absent(claim.id(), 1, "ann", "not there")));
        }
        List<EntryId> left = claims.subList(PAGE, ENTRIES).stream()
                .map(ClaimRequest::id)
                .sorted()
                .toList();
        server.command("CONFIG", "RESETSTAT");
        assertThat(pages(store, EntryQuery.all(PAGE).in(State.UNKNOWN))).isEqualTo(left);
        assertThat(count("zscan")).isZero();
    }

    @Test
    @DisplayName("fails if the server is restarted meanwhile, because a cursor of before leaves entries out")
    void restarted() {
        Store store = clock.node(0);
        claimed(store, ENTRIES);
        ClientResources resources = ClientResources.create();
        try (Link link = LinkOpening.open(
                LinkOpening.Servers.trusting(RedisUrl.of(server.url()).servers(), null), resources)) {
            AtomicInteger calls = new AtomicInteger();
            Link watched = (Link) Proxy.newProxyInstance(
                    Link.class.getClassLoader(), new Class<?>[] {Link.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("send") && calls.incrementAndGet() == 2) {
                            restart(link);
                        }
                        try {
                            return method.invoke(link, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
            Duration timeout = Duration.ofSeconds(20);
            Pipeline pipeline = new Pipeline(watched, new ServerCheck(watched, timeout, false, false), timeout);
            IndexMembers members = new IndexMembers(pipeline, clock.partitions());
            assertThatThrownBy(() -> members.scan(0, Partitions.LEASES, ids -> {}))
                    .isInstanceOf(StoreUnavailable.class)
                    .hasMessageContaining("connected again");
        } finally {
            var unused = resources.shutdown();
        }
    }

    private static void restart(Link link) {
        int before = link.generation();
        server.kill();
        server.restart();
        long giveUp = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (link.generation() == before && System.nanoTime() < giveUp) {
            LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
        }
    }

    @Test
    @DisplayName("leaves results on the server")
    void results() {
        Store store = clock.node(0);
        ClaimRequest claim = claimed(store, 1).get(0);
        store.settle(List.of(
                Settlement.of(claim.id(), claim.token(), State.COMPLETED, Optional.of(new byte[1 << 20]), "done")));
        server.command("CONFIG", "SET", "client-output-buffer-limit", "\"normal 64kb 0 0\"");
        try {
            assertThat(store.list(EntryQuery.all(PAGE))).hasSize(1).allMatch(entry -> entry.result() == null);
        } finally {
            server.command("CONFIG", "SET", "client-output-buffer-limit", "\"normal 0 0 0\"");
        }
    }

    @Test
    @DisplayName("of leases is looked at once by the first sweep of a node, if none is longer than it may be")
    void firstSweep() {
        claimed(clock.node(0), ENTRIES);
        try (RedisStore fresh =
                RedisStore.builder(server.url()).clock(RedisClock.LUA).build()) {
            server.command("CONFIG", "RESETSTAT");
            assertThat(fresh.sweep(10)).isEmpty();
            assertThat(count("evalsha") + count("eval")).isLessThan(50);
        }
    }
}
