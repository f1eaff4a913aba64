package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Begun;
import dev.onlyonce.Codec;
import dev.onlyonce.Ending;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.OpenClaim;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a node answers from its memory, and when it must ask the store again. */
class ReplayCacheTest {
    private static final Key KEY = Key.of("acme", "POST /payments", "k-1");
    private static final Fingerprint PRINT = Requests.fingerprint("10 EUR");
    private static final Duration CACHED_FOR = Duration.ofSeconds(10);

    private final ManualTime time = new ManualTime();
    private final FaultyStore store = new FaultyStore(new MemoryStore(time));
    private final Onlyonce once = node(Duration.ofHours(24));

    private Onlyonce node(Duration retention) {
        return Onlyonce.builder(store)
                .time(time)
                .retention(retention)
                .waitMax(Duration.ofMinutes(1))
                .build();
    }

    @AfterEach
    void close() {
        store.close();
        once.close();
        time.close();
    }

    private static Outcome<String> pay(Onlyonce node) {
        return node.execute(KEY, PRINT, Codec.text(), claim -> "paid");
    }

    @ParameterizedTest
    @EnumSource(CallStyle.class)
    @DisplayName("R1 the node that executed it answers retries without the store")
    void ownAnswer(CallStyle style) {
        Outcome<String> first = style.execute(once, KEY, PRINT, claim -> "paid");
        store.failAlways(Fault.BEFORE);
        assertThat(style.execute(once, KEY, PRINT, claim -> "paid again"))
                .isEqualTo(new Outcome.Replayed<>("paid", ((Outcome.Executed<String>) first).expiresAt()));
    }

    @ParameterizedTest
    @EnumSource(CallStyle.class)
    @DisplayName(
            "F1 R7 misuse is refused by the store alone: a corrected request runs at once after an eviction elsewhere")
    void correctedElsewhere(CallStyle style) {
        Fingerprint corrected = Requests.fingerprint("20 EUR");
        style.execute(once, KEY, PRINT, claim -> "paid");
        assertThat(style.execute(once, KEY, corrected, claim -> "paid again")).isInstanceOf(Outcome.Mismatched.class);
        try (Onlyonce other = node(Duration.ofHours(24))) {
            assertThat(other.operator().evict(KEY, "an operator", "a wrong amount"))
                    .isTrue();
        }
        assertThat(style.execute(once, KEY, corrected, claim -> "corrected")).isInstanceOf(Outcome.Executed.class);
        assertThat(style.execute(once, KEY, corrected, claim -> "twice")).isInstanceOf(Outcome.Replayed.class);
        assertThat(style.execute(once, KEY, PRINT, claim -> "paid again"))
                .as("the evicted answer")
                .isInstanceOf(Outcome.Mismatched.class);
        store.failAlways(Fault.BEFORE);
        assertThatThrownBy(() -> style.execute(once, KEY, PRINT, claim -> "paid again"))
                .isInstanceOf(StoreUnavailable.class);
    }

    @Test
    @DisplayName("R1 a recorded refusal is answered without the store, too")
    void ownRefusal() {
        claim().settle(new Ending.Failed(new Failure("declined", "The card was declined")));
        store.failAlways(Fault.BEFORE);
        assertThat(pay(once)).isInstanceOf(Outcome.Failed.class);
    }

    @Test
    @DisplayName("D4 D5 what was not answered is not remembered: the store decides")
    void notAnswered() {
        claim().settle(new Ending.Retryable("connection refused"));
        claim().settle(new Ending.Unknown("no answer"));
        assertThat(pay(once)).isInstanceOf(Outcome.Unknown.class);
        store.failAlways(Fault.BEFORE);
        assertThatThrownBy(() -> pay(once)).isInstanceOf(StoreUnavailable.class);
    }

    @Test
    @DisplayName("R7 an eviction on another node is noticed after ten seconds, on this node at once")
    void evicted() {
        pay(once);
        try (Onlyonce other = node(Duration.ofHours(24))) {
            assertThat(other.operator().evict(KEY, "an operator", "wrong tenant"))
                    .isTrue();
            assertThat(pay(once)).isInstanceOf(Outcome.Replayed.class);
            time.advance(CACHED_FOR);
            assertThat(pay(once)).isInstanceOf(Outcome.Executed.class);
            assertThat(once.operator().evict(KEY, "an operator", "wrong tenant"))
                    .isTrue();
            assertThat(pay(once)).isInstanceOf(Outcome.Executed.class);
        }
    }

    @Test
    @DisplayName("R7 a reader that is overtaken by an eviction does not bring the evicted answer back")
    void overtakenByEviction() {
        Onlyonce[] evicting = new Onlyonce[1];
        boolean[] armed = new boolean[1];
        ForwardingStore slow = new ForwardingStore(store) {
            @Override
            <T> T around(Verb verb, Object asked, Supplier<T> call) {
                T answer = call.get();
                if (verb == Verb.CLAIM && armed[0]) {
                    armed[0] = false;
                    time.advance(Duration.ofMillis(1));
                    assertThat(evicting[0].operator().evict(KEY, "an operator", "wrong tenant"))
                            .isTrue();
                }
                return answer;
            }
        };
        pay(once);
        try (Onlyonce reading = Onlyonce.builder(slow).time(time).build()) {
            evicting[0] = reading;
            armed[0] = true;
            assertThat(pay(reading)).as("read before the eviction").isInstanceOf(Outcome.Replayed.class);
            assertThat(pay(reading)).as("asked after the eviction").isInstanceOf(Outcome.Executed.class);
        }
    }

    @Test
    @DisplayName("R7 an eviction whose answer is lost is noticed at once, too")
    void evictedPerhaps() {
        pay(once);
        store.failAt(Verb.EVICT, 1, Fault.AFTER);
        assertThatThrownBy(() -> once.operator().evict(KEY, "an operator", "wrong tenant"))
                .isInstanceOf(StoreOutcomeUnknown.class);
        assertThat(pay(once)).isInstanceOf(Outcome.Executed.class);
    }

    @Test
    @DisplayName("R7 a reader that was held up remembers an answer for no longer: an eviction elsewhere may be over")
    void heldUp() {
        boolean[] armed = new boolean[1];
        ForwardingStore slow = new ForwardingStore(store) {
            @Override
            <T> T around(Verb verb, Object asked, Supplier<T> call) {
                T answer = call.get();
                if (verb == Verb.CLAIM && armed[0]) {
                    armed[0] = false;
                    assertThat(store.evict(KEY.entryId(), "an operator", "elsewhere"))
                            .isPresent();
                    time.advance(CACHED_FOR);
                }
                return answer;
            }
        };
        pay(once);
        try (Onlyonce reading =
                Onlyonce.builder(slow).time(time).cacheFor(CACHED_FOR).build()) {
            armed[0] = true;
            assertThat(pay(reading)).as("read before the eviction").isInstanceOf(Outcome.Replayed.class);
            assertThat(pay(reading)).as("asked when everybody has forgotten").isInstanceOf(Outcome.Executed.class);
        }
    }

    @Test
    @DisplayName("T2 a reader that is overtaken by the key's next entry does not put the old answer in its place")
    void overtakenByTheNextEntry() {
        Duration retention = Duration.ofMinutes(2);
        boolean[] armed = new boolean[1];
        Onlyonce[] next = new Onlyonce[1];
        ForwardingStore slow = new ForwardingStore(store) {
            @Override
            <T> T around(Verb verb, Object asked, Supplier<T> call) {
                T answer = call.get();
                if (verb == Verb.CLAIM && armed[0]) {
                    armed[0] = false;
                    assertThat(store.evict(KEY.entryId(), "an operator", "elsewhere"))
                            .isPresent();
                    time.advance(Duration.ofSeconds(1));
                    next[0].execute(KEY, PRINT, Codec.text(), claim -> "paid in the next entry");
                }
                return answer;
            }
        };
        try (Onlyonce brief = node(retention);
                Onlyonce reading = Onlyonce.builder(slow).time(time).build()) {
            next[0] = reading;
            pay(brief);
            armed[0] = true;
            assertThat(pay(reading)).isInstanceOf(Outcome.Replayed.class);
            assertThat(pay(reading))
                    .isInstanceOfSatisfying(
                            Outcome.Replayed.class,
                            replayed -> assertThat(replayed.value()).isEqualTo("paid in the next entry"));
        }
    }

    @Test
    @DisplayName("nothing is answered from memory after its retention, however long the action took")
    void retention() {
        try (Onlyonce brief = node(Duration.ofMinutes(2))) {
            OpenClaim claim = ((Begun.Claimed) brief.begin(KEY, PRINT)).claim();
            time.advance(Duration.ofMinutes(1));
            claim.settle(new Ending.Completed(Requests.bytes("paid")));
            time.advance(Duration.ofMinutes(2));
            assertThat(pay(brief)).isInstanceOf(Outcome.Executed.class);
        }
    }

    @Test
    @DisplayName("nothing is answered from memory after its retention, however late the store confirmed the record")
    void confirmedLate() {
        Duration retention = Duration.ofMinutes(2);
        long begun = time.nanos();
        try (Onlyonce alone =
                Onlyonce.builder(store).time(time.alone()).retention(retention).build()) {
            OpenClaim claim = ((Begun.Claimed) alone.begin(KEY, PRINT)).claim();
            for (int call = 1; call <= 3; call++) {
                store.failAt(Verb.SETTLE, call, Fault.AFTER);
            }
            claim.settle(new Ending.Completed(Requests.bytes("paid")));
            Duration tried = Duration.ofNanos(time.nanos() - begun);
            assertThat(tried).isPositive();
            time.advance(retention.minus(tried));
            assertThat(pay(alone)).isInstanceOf(Outcome.Executed.class);
        }
    }

    @Test
    @DisplayName("who waits for the running one on the same node gets its answer without the store")
    void waiting() throws Exception {
        OpenClaim claim = claim();
        CompletableFuture<Outcome<String>> waiter = CompletableFuture.supplyAsync(() -> pay(once));
        time.untilWaiting(1);
        claim.settle(new Ending.Completed(Requests.bytes("paid")));
        assertThat(waiter.get()).isInstanceOf(Outcome.Replayed.class);
        assertThat(store.calls(Verb.FIND)).isZero();
    }

    private OpenClaim claim() {
        return ((Begun.Claimed) once.begin(KEY, PRINT)).claim();
    }
}
