package dev.onlyonce.testkit;

import static dev.onlyonce.store.State.COMPLETED;
import static dev.onlyonce.testkit.Requests.fresh;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FaultyStoreTest {
    private final MemoryStore memory = new MemoryStore(new ManualTime());
    private final FaultyStore store = new FaultyStore(memory);
    private final ExecutorService thread = Executors.newSingleThreadExecutor();

    @AfterEach
    void close() {
        store.close();
        thread.shutdownNow();
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"BEFORE", "BUSY", "REJECTED", "ERROR", "ERROR_AFTER", "LOST", "AFTER", "PARTLY"})
    @DisplayName("a fault throws what it says, and the call is done or not as it says")
    void faults(Fault fault) {
        ClaimRequest request = fresh("key");
        store.failAt(1, fault);
        Class<? extends Throwable> expected = switch (fault) {
            case BEFORE -> StoreUnavailable.class;
            case BUSY -> StoreBusy.class;
            case REJECTED -> StoreRejected.class;
            case ERROR, ERROR_AFTER -> StackOverflowError.class;
            default -> StoreOutcomeUnknown.class;
        };
        assertThatThrownBy(() -> store.claim(List.of(request))).isInstanceOf(expected);
        assertThat(memory.find(List.of(request.id())).get(0).isPresent()).isEqualTo(fault.isDone());
        assertThat(store.claim(List.of(request))).containsExactly(new ClaimResult.Claimed(1));
    }

    @Test
    @DisplayName(
            "a held row is busy by itself, or with everything in its call, until it is let go; nothing is done to it")
    void held() {
        ClaimRequest held = fresh("held");
        ClaimRequest free = fresh("free");
        store.hold(held.id());
        assertThat(store.claim(List.of(held, free)))
                .containsExactly(new ClaimResult.Busy(), new ClaimResult.Claimed(1));
        store.letGo(held.id());
        store.lock(held.id());
        assertThatThrownBy(() -> store.claim(List.of(fresh("other"), held))).isInstanceOf(StoreBusy.class);
        store.letGo(held.id());
        store.overload(held.id());
        assertThat(store.claim(List.of(held, free)))
                .hasExactlyElementsOfTypes(ClaimResult.Unavailable.class, ClaimResult.Claimed.class);
        assertThat(memory.find(List.of(held.id())).get(0)).isEmpty();
        store.letGo(held.id());
        assertThat(store.claim(List.of(held))).containsExactly(new ClaimResult.Claimed(1));
    }

    @Test
    @DisplayName("C5 a list can be done in part, and repeating it does the rest")
    void partly() {
        List<ClaimRequest> requests = Requests.several("key", 5);
        store.failAt(1, Fault.PARTLY);
        assertThatThrownBy(() -> store.claim(requests)).isInstanceOf(StoreOutcomeUnknown.class);
        assertThat(requests.stream()
                        .map(request ->
                                memory.find(List.of(request.id())).get(0).isPresent()))
                .containsExactly(true, false, true, false, true);
        assertThat(store.claim(requests))
                .containsOnly(new ClaimResult.Claimed(1))
                .hasSize(5);
    }

    @Test
    @DisplayName("every verb is counted, can fail, and passes through otherwise")
    void everyVerb() {
        for (Verb verb : Verb.values()) {
            store.failAt(verb, 2, Fault.BEFORE);
            assertThatCode(() -> call(store, verb)).doesNotThrowAnyException();
            assertThatThrownBy(() -> call(store, verb)).isInstanceOf(StoreUnavailable.class);
            assertThatCode(() -> call(store, verb)).doesNotThrowAnyException();
            assertThat(store.calls(verb)).isEqualTo(3);
        }
        assertThat(store.calls()).isEqualTo(3 * Verb.values().length);
        assertThat(store.log()).startsWith(Verb.CLAIM, Verb.CLAIM, Verb.CLAIM, Verb.SETTLE);
    }

    private static void call(Store store, Verb verb) {
        ClaimRequest request = fresh("key");
        switch (verb) {
            case CLAIM -> store.claim(List.of(request));
            case SETTLE -> store.settle(List.of(Requests.settlement(request, COMPLETED, null)));
            case RENEW -> store.renew(List.of(new Renewal(request.id(), request.token(), Duration.ofSeconds(1))));
            case FIND -> store.find(List.of(request.id()));
            case SWEEP -> store.sweep(1);
            case PURGE -> store.purge(1);
            case RESOLVE -> store.resolve(List.of(Requests.resolution(request.id(), 1, COMPLETED, null)));
            case EVICT -> store.evict(request.id(), "who", "why");
            case LIST -> store.list(EntryQuery.all(1));
            case HISTORY -> store.history(request.id());
            case AUDIT -> store.audit(AuditQuery.all(1));
            case PURGE_AUDIT -> store.purgeAudit(Duration.ofDays(1), 1);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"HANGS", "HANGS_BEFORE", "HANGS_AFTER"})
    @DisplayName("a hanging call blocks until it is released, and is done before, after or not at all")
    void hangs(Fault fault) throws Exception {
        ClaimRequest request = fresh("key");
        store.failAt(Verb.CLAIM, 1, fault);
        Future<Object> call = thread.submit(() -> {
            try {
                return store.claim(List.of(request)).get(0);
            } catch (StoreException e) {
                return e;
            }
        });
        store.untilHanging(1);
        assertThat(call.isDone()).isFalse();
        assertThat(memory.find(List.of(request.id())).get(0).isPresent()).isEqualTo(fault == Fault.HANGS_AFTER);
        store.release();
        Object answer = call.get(60, TimeUnit.SECONDS);
        assertThat(memory.find(List.of(request.id())).get(0).isPresent()).isEqualTo(fault.isDone());
        switch (fault) {
            case HANGS -> assertThat(answer).isEqualTo(new ClaimResult.Claimed(1));
            case HANGS_BEFORE -> assertThat(answer).isInstanceOf(StoreUnavailable.class);
            default -> assertThat(answer).isInstanceOf(StoreOutcomeUnknown.class);
        }
    }

    @Test
    @DisplayName("an outage lasts until it is healed")
    void outage() {
        store.failAlways(Fault.BEFORE);
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> store.find(List.of())).isInstanceOf(StoreUnavailable.class);
        }
        store.heal();
        assertThat(store.find(List.of())).isEmpty();
        store.failAlways(Verb.SWEEP, Fault.BEFORE);
        assertThat(store.find(List.of())).isEmpty();
        assertThatThrownBy(() -> store.sweep(1)).isInstanceOf(StoreUnavailable.class);
    }
}
