package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Begun;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreRefused;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * What a store does when its entries are gone while nodes use it: it refuses, on every running node, until an operator accepts it. For
 * stores that outlive a process; the author of one extends this class too.
 */
public abstract class LossContract {
    private static final Duration NEVER = Duration.ofDays(1);

    private final List<AutoCloseable> opened = new ArrayList<>();

    /** Opens the store as another node of the same system would. Before the first time there are no entries. */
    protected abstract Store open();

    /** Removes all entries and nothing else, behind the store's back. */
    protected abstract void empty();

    /** Removes all that the store has made: the next node that starts begins with an empty store. */
    protected abstract void startOver();

    private Store node() {
        Store store = open();
        opened.add(store);
        return store;
    }

    private Onlyonce engine(Store store) {
        Onlyonce once = Onlyonce.builder(store)
                .sweepEvery(NEVER)
                .purgeEvery(NEVER)
                .storeWaitMax(Duration.ofMillis(500))
                .build();
        opened.add(once);
        return once;
    }

    @AfterEach
    final void closeAll() throws Exception {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
        }
    }

    @Test
    @DisplayName("E5 looking again at a store that is as it was changes nothing")
    void unchanged() {
        Store store = node();
        store.recheck();
        assertThat(store.refusal()).isEmpty();
        assertThat(claim(store, Requests.fresh("one"))).isInstanceOf(ClaimResult.Claimed.class);
        assertThat(store.list(EntryQuery.all(10))).as("the mark is no entry").hasSize(1);
        assertThat(store.countStored(null, 10)).isEqualTo(1);
        assertThatThrownBy(() -> store.accept("operator", "a test"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("nothing to accept");
    }

    @Test
    @DisplayName(
            "E5 a store whose entries were removed is refused by every verb and by health checks, and operators may look")
    void emptied() {
        Store store = node();
        ClaimRequest mine = Requests.fresh("mine");
        claim(store, mine);
        empty();
        assertThatThrownBy(store::recheck).isInstanceOf(StoreRefused.class).hasMessageContaining("store accept");
        assertRefused(store, mine);
        assertThat(store.list(EntryQuery.all(10))).isEmpty();
        assertThat(store.history(mine.id())).isNotNull();
        assertThatThrownBy(store::recheck).as("it does not get well by itself").isInstanceOf(StoreRefused.class);
    }

    private static void assertRefused(Store store, ClaimRequest claim) {
        assertThat(store.refusal()).isPresent();
        List<ThrowingCallable> verbs = List.of(
                () -> store.claim(List.of(Requests.fresh("another"))),
                () -> store.settle(List.of(Requests.settlement(claim, State.COMPLETED, null))),
                () -> store.renew(List.of(new Renewal(claim.id(), claim.token(), Duration.ofSeconds(9)))),
                () -> store.find(List.of(claim.id())),
                () -> store.sweep(10),
                () -> store.purge(10),
                () -> store.resolve(List.of(Requests.resolution(claim.id(), 1, State.COMPLETED, null))),
                () -> store.evict(claim.id(), "operator", "a test"),
                () -> store.purgeAudit(Duration.ZERO, 10),
                store::checkWritable);
        for (int i = 0; i < verbs.size(); i++) {
            assertThatThrownBy(verbs.get(i)).as("verb %d", i).isInstanceOf(StoreRefused.class);
        }
    }

    @Test
    @DisplayName(
            "E5 a node that starts with a store that has lost its entries refuses it, until an operator accepts it")
    void restarted() {
        node().close();
        empty();
        Store store = node();
        if (store.refusal().isPresent()) {
            assertRefused(store, Requests.fresh("key"));
            store.accept("operator", "a test");
        }
        assertThat(claim(store, Requests.fresh("key"))).isInstanceOf(ClaimResult.Claimed.class);
        Store later = node();
        assertThat(later.refusal()).isEmpty();
    }

    @Test
    @DisplayName(
            "E5 a store that another node has made anew is refused by those that knew the one before; accepting it at one is"
                    + " enough for all")
    void madeAnew() {
        Store store = node();
        Store other = node();
        ClaimRequest mine = Requests.fresh("mine");
        claim(store, mine);
        startOver();
        Store fresh = node();
        assertThat(claim(fresh, Requests.fresh("new"))).isInstanceOf(ClaimResult.Claimed.class);
        assertThatThrownBy(store::recheck).isInstanceOf(StoreRefused.class).hasMessageContaining("another one");
        assertThatThrownBy(other::recheck).isInstanceOf(StoreRefused.class);
        assertRefused(store, mine);
        store.accept("operator", "a test");
        for (Store each : List.of(store, other, fresh)) {
            each.recheck();
            assertThat(each.refusal()).isEmpty();
            assertThatCode(each::checkWritable).doesNotThrowAnyException();
            assertThat(each.settle(List.of(Requests.settlement(mine, State.COMPLETED, null))))
                    .as("what this store never had")
                    .containsExactly(new SettleResult.Lost(null));
        }
        assertThat(claim(other, Requests.fresh("after"))).isInstanceOf(ClaimResult.Claimed.class);
        startOver();
        node();
        assertThatThrownBy(store::recheck).as("one acceptance is for one store").isInstanceOf(StoreRefused.class);
    }

    @Test
    @DisplayName(
            "E5 the engine notices with its sweeps: no action starts and no settlement is acknowledged until an operator accepts")
    void engine() {
        Store store = node();
        Onlyonce once = engine(store);
        Begun.Claimed running = (Begun.Claimed) once.begin(Key.of("acme", "pay", "running"), print("running"));
        empty();
        assertThatThrownBy(() -> once.operator().sweep()).isInstanceOf(StoreRefused.class);
        AtomicInteger ran = new AtomicInteger();
        assertThatThrownBy(() -> run(once, "next", ran)).isInstanceOf(StoreException.class);
        assertThatThrownBy(() -> running.claim().complete(new byte[] {1})).isInstanceOf(StoreException.class);
        assertThat(ran).hasValue(0);
        once.operator().acceptStore("operator", "a test");
        // Another one: callers are refused for a moment after a failure.
        assertThat(run(engine(store), "next", ran)).isEqualTo("1");
    }

    private static String run(Onlyonce once, String key, AtomicInteger ran) {
        return once.execute(Key.of("acme", "pay", key), print(key), String.class, c -> "" + ran.incrementAndGet())
                .orElseThrow();
    }

    private static Fingerprint print(String text) {
        return Fingerprint.of(text.getBytes(StandardCharsets.UTF_8));
    }

    private static ClaimResult claim(Store store, ClaimRequest request) {
        return store.claim(List.of(request)).get(0);
    }
}
