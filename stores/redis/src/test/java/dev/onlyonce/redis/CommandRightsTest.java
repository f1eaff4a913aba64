package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Terms;
import dev.onlyonce.testservers.RedisServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the user of the server may do. */
@DisplayName("A Redis user")
class CommandRightsTest {
    /** For a moment, so that it is over in the test. */
    private static final Duration LEASE = Duration.ofMillis(100);

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static RedisServer server;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static RedisStore.Builder as(String... rights) {
        String[] rule = Stream.concat(
                        Stream.of("ACL", "SETUSER", "limited", "reset", "on", ">secret", "~onlyonce:*"),
                        Stream.of(rights))
                .toArray(String[]::new);
        assertThat(server.command(rule)).isEqualTo("+OK");
        return RedisStore.builder(server.url()).credentials("limited", "secret");
    }

    /** Those that are tried. */
    static List<String> commands() {
        return CommandRights.COMMANDS.stream()
                .map(command -> command.split(" ", 2)[0])
                .distinct()
                .toList();
    }

    @ParameterizedTest
    @MethodSource("commands")
    @DisplayName("E2 without the right to a command that entries need is refused at start-up, and the message names it")
    void without(String command) {
        assertThatThrownBy(() -> as("+@all", "-" + command).build())
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContainingAll("may not run", command);
    }

    @Test
    @DisplayName("E2 without the right to wait for replicas is refused at start-up if it has to")
    void withoutWait() {
        as("+@all", "-wait").build().close();
        assertThatThrownBy(() -> as("+@all", "-wait").replicas(1).build())
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("WAIT");
    }

    @Test
    @DisplayName("E2 without a right to scripts, or to keys, is refused at start-up")
    void otherRights() {
        assertThatThrownBy(() -> as("+@all", "-eval").build())
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("EVAL");
        assertThatThrownBy(() -> as("+@all", "resetkeys", "~onlyonce:{0}:*").build())
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("access");
    }

    @Test
    @DisplayName("with exactly the rights that are tried at start-up can do everything that a store does")
    void exactly() {
        List<String> rights = Stream.concat(Stream.of("eval", "evalsha", "info", "ping", "wait"), commands().stream())
                .map(command -> "+" + command)
                .toList();
        try (RedisStore store = as(rights.toArray(String[]::new))
                .audit(AuditLevel.EXCEPTIONS)
                .auditRecordsMax(1)
                .build()) {
            for (int i = 0; i < 5; i++) {
                everything(store, "key-" + i);
            }
        }
    }

    private static void everything(RedisStore store, String key) {
        ClaimRequest claim = Calls.claim(key);
        store.claim(List.of(claim));
        store.renew(List.of(new Renewal(claim.id(), claim.token(), Duration.ofHours(1))));
        store.settle(List.of(Calls.completed(claim)));
        assertThat(store.find(List.of(claim.id())).get(0)).isPresent();
        assertThat(store.list(EntryQuery.all(10))).isNotEmpty();
        assertThat(store.countStored("acme", 10)).isPositive();
        assertThat(store.evict(claim.id(), "ann", "test")).isPresent();
        Terms terms = new Terms(LEASE, OnLeaseLost.UNKNOWN, Duration.ZERO, Duration.ofHours(1));
        ClaimRequest lost = new ClaimRequest(
                claim.id(),
                claim.operation(),
                claim.fingerprint(),
                claim.token(),
                claim.owner(),
                terms,
                State.PROCESSING);
        store.claim(List.of(lost));
        while (store.sweep(10).isEmpty()) {
            Thread.onSpinWait();
        }
        store.resolve(List.of(Resolution.absent(claim.id(), 1, "ann", "not there")));
        store.purge(10);
        assertThat(store.history(claim.id())).isNotEmpty();
        assertThat(store.audit(AuditQuery.all(10))).isNotEmpty();
        store.purgeAudit(Duration.ofDays(1), 10);
        store.purgeAudit(Duration.ZERO, 10);
        store.checkWritable();
        assertThat(store.now()).isPresent();
    }

    @ParameterizedTest
    @ValueSource(strings = {"zadd", "zrem", "xadd", "incrby", "mset", "getrange", "mget"})
    @DisplayName("that loses a right while it is used loses no entry: what it cannot settle is swept once the right is"
            + " back")
    void lostLater(String command) {
        server.command("FLUSHALL");
        try (RedisStore store = as("+@all").build()) {
            ClaimRequest usual = Calls.claim("lost-" + command);
            ClaimRequest claim = new ClaimRequest(
                    usual.id(),
                    usual.operation(),
                    usual.fingerprint(),
                    usual.token(),
                    usual.owner(),
                    new Terms(LEASE, OnLeaseLost.UNKNOWN, Duration.ofHours(1), Duration.ZERO),
                    State.PROCESSING);
            store.claim(List.of(claim));
            assertThat(server.command("ACL", "SETUSER", "limited", "-" + command))
                    .isEqualTo("+OK");
            try {
                assertThat(store.settle(List.of(Calls.completed(claim)))).containsExactly(new SettleResult.Busy());
            } catch (StoreException e) {
                // All of a list that is refused.
            }
            assertThat(server.command("ACL", "SETUSER", "limited", "+" + command))
                    .isEqualTo("+OK");
            long giveUp = System.nanoTime() + PATIENCE.toNanos();
            while (store.sweep(10).isEmpty()) {
                assertThat(System.nanoTime()).as("the entry is in no index").isLessThan(giveUp);
            }
        }
    }

    @Test
    @DisplayName("is tried for every command in a script")
    void complete() {
        for (String script : List.of("clock", "due", "history", "swap", "trim")) {
            String text = new String(Script.alone(script).text(), StandardCharsets.UTF_8);
            assertThat(Pattern.compile("(?:call|try)\\('([A-Z]+)'|todo == '([A-Z]+)'")
                            .matcher(text)
                            .results()
                            .map(CommandRightsTest::name))
                    .as(script)
                    .isSubsetOf(commands());
        }
    }

    private static String name(MatchResult found) {
        return found.group(1) == null ? found.group(2) : found.group(1);
    }
}
