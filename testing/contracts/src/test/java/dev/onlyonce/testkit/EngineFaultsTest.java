package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Claim;
import dev.onlyonce.Event;
import dev.onlyonce.Key;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.Reconciler;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The engine on a store that fails at every call, in every way, and in every pair of ways. */
class EngineFaultsTest {
    private static final Set<Fault> FAULTS = EnumSet.of(Fault.BEFORE, Fault.BUSY, Fault.LOST, Fault.AFTER);
    /** With those that neither say what was done nor let the call be repeated as it was. */
    private static final Set<Fault> SINGLE_FAULTS = EnumSet.of(
            Fault.BEFORE,
            Fault.BUSY,
            Fault.LOST,
            Fault.AFTER,
            Fault.PARTLY,
            Fault.ERROR,
            Fault.ERROR_AFTER,
            Fault.REJECTED);

    private static final Key KEY = Key.of("acme", "POST /payments", "k-1");
    private static final Fingerprint PRINT = Requests.fingerprint("10 EUR");
    private static final Duration LEASE = Duration.ofSeconds(30);

    /** What the action does. */
    enum Acting {
        /** Its effect, at once. */
        DONE,
        /** Its effect, after longer than its lease. */
        SLOW,
        /** Nothing the first time, with proof; its effect after that. */
        REFUSED_FIRST,
        /** Its effect, and then an exception. */
        BROKEN_AFTER
    }

    @ParameterizedTest
    @EnumSource(Acting.class)
    @DisplayName("C5 R3 D1 D5 D12 a fault at any call: one effect, one answer, and no key stuck after lease and sweep")
    void oneFault(Acting acting) {
        for (OnLeaseLost policy : OnLeaseLost.values()) {
            for (CallStyle style : CallStyle.values()) {
                Plot plot = new Plot(acting, policy, style);
                int calls = play(plot, store -> {}, "no fault");
                assertThat(calls).isBetween(2, 200);
                for (Fault fault : SINGLE_FAULTS) {
                    // An action that always breaks is answered by the reconciler alone, and a rejected record that is
                    // repeated by policy leaves it no time.
                    boolean repeated = acting == Acting.BROKEN_AFTER && fault == Fault.REJECTED;
                    for (int call = 1; call <= (repeated ? 0 : calls); call++) {
                        int at = call;
                        play(plot, store -> store.failAt(at, fault), fault + " at " + at);
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(CallStyle.class)
    @DisplayName("C5 R3 D1 two faults at any two calls: one effect, one answer, and no key stuck after lease and sweep")
    void twoFaults(CallStyle style) {
        Plot plot = new Plot(Acting.DONE, OnLeaseLost.UNKNOWN, style);
        for (Fault first : FAULTS) {
            for (Fault second : FAULTS) {
                for (int call = 1; call <= 8; call++) {
                    for (int next = call + 1; next <= 9; next++) {
                        int at = call;
                        int then = next;
                        play(
                                plot,
                                store -> {
                                    store.failAt(at, first);
                                    store.failAt(then, second);
                                },
                                first + " at " + at + ", " + second + " at " + then);
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"BEFORE", "BUSY", "LOST", "AFTER"})
    @DisplayName("D1 D9 an outage from any call on: nothing runs while the store is down, and all is well after it")
    void outage(Fault fault) {
        for (CallStyle style : CallStyle.values()) {
            for (int from = 1; from <= 8; from++) {
                int first = from;
                play(
                        new Plot(Acting.DONE, OnLeaseLost.UNKNOWN, style),
                        store -> {
                            for (int call = first; call < first + 40; call++) {
                                store.failAt(call, fault);
                            }
                        },
                        fault + " from " + from + " on");
            }
        }
    }

    /** Plays a customer's whole story, checks what must hold, and returns how many calls it took. */
    private static int play(Plot plot, Consumer<FaultyStore> faults, String what) {
        try (Story story = new Story(plot)) {
            faults.accept(story.store);
            story.play();
            return story.callsInTrouble;
        } catch (AssertionError | RuntimeException e) {
            throw new AssertionError(plot + ", " + what + ": " + e.getMessage(), e);
        }
    }

    private record Plot(Acting acting, OnLeaseLost policy, CallStyle style) {}

    private static final class Story implements AutoCloseable {
        private final ManualTime time = new ManualTime();
        private final Store memory = new MemoryStore(time);
        private final FaultyStore store = new FaultyStore(memory);
        private final Acting acting;
        private final OnLeaseLost policy;
        private final CallStyle style;
        private final List<String> effects = new ArrayList<>();
        private final List<String> answers = new ArrayList<>();
        private final Onlyonce once;
        private int runs;
        private int callsInTrouble;

        Story(Plot plot) {
            this.acting = plot.acting();
            this.policy = plot.policy();
            this.style = plot.style();
            once = Onlyonce.builder(store)
                    .time(time.alone())
                    .lease(LEASE)
                    .callMax(Duration.ZERO)
                    .onLeaseLost(policy)
                    .reconciler(KEY.operation(), new ByLedger())
                    .listener(this::notice)
                    .sweepEvery(LEASE)
                    .reconcileEvery(LEASE)
                    .purgeEvery(Duration.ofDays(1))
                    .cacheBytesMax(0)
                    .build();
        }

        void play() {
            for (int i = 0; i < 3; i++) {
                ask();
            }
            time.advance(LEASE.dividedBy(2));
            ask();
            time.advance(LEASE.multipliedBy(2));
            callsInTrouble = store.calls();
            store.heal();
            // One sweep, one look of the reconciler at the latest of its pauses.
            time.advance(LEASE.plus(Duration.ofMinutes(6)));
            Entry before = memory.find(List.of(KEY.entryId())).get(0).orElse(null);
            assertThat(before == null || before.state() != State.PROCESSING)
                    .as("stuck: %s", before)
                    .isTrue();
            Optional<String> last = ask();
            last = last.isPresent() ? last : ask();
            assertThat(last).as("the answer when all is well").isPresent();
            assertThat(Set.copyOf(answers)).as("answers").hasSize(1);
            assertThat(effects).contains(answers.get(0));
            if (policy == OnLeaseLost.UNKNOWN) {
                assertThat(effects).as("effects").hasSize(1);
            }
            assertThat(once.liveClaims()).isZero();
        }

        /** Doubt needs a reason: what never ran is released, not reconciled. */
        private void notice(Event event) {
            if (event instanceof Event.Changed changed && changed.transition().to() == State.UNKNOWN) {
                assertThat(runs).as("runs of what is now unknown").isPositive();
            }
        }

        /** The value, if there was one. */
        private Optional<String> ask() {
            int effectsBefore = effects.size();
            int runsBefore = runs;
            try {
                Outcome<String> outcome = style.execute(once, KEY, PRINT, this::act);
                assertThat(outcome).isNotInstanceOfAny(Outcome.Mismatched.class, Outcome.Expired.class);
                assertThat(outcome).isNotInstanceOf(Outcome.Failed.class);
                boolean answered = outcome instanceof Outcome.Executed || outcome instanceof Outcome.Replayed;
                String value = answered ? outcome.orElseThrow() : null;
                if (outcome instanceof Outcome.Executed) {
                    assertThat(runs).isEqualTo(runsBefore + 1);
                    assertThat(recorded()).as("recorded before it was answered").isEqualTo(State.COMPLETED);
                } else if (!(outcome instanceof Outcome.Unknown)) {
                    assertThat(effects).as("an effect behind %s", outcome).hasSize(effectsBefore);
                }
                if (value != null) {
                    answers.add(value);
                }
                return Optional.ofNullable(value);
            } catch (StoreException e) {
                if (!(e instanceof StoreOutcomeUnknown)) {
                    assertThat(runs).as("ran, but %s", e).isEqualTo(runsBefore);
                }
            } catch (NotExecuted e) {
                assertThat(effects).hasSize(effectsBefore);
            } catch (IllegalStateException e) {
                assertThat(e).hasMessage("broken after the effect");
            }
            return Optional.empty();
        }

        private @Nullable State recorded() {
            return memory.find(List.of(KEY.entryId())).get(0).map(Entry::state).orElse(null);
        }

        private String act(Claim claim) {
            runs++;
            if (acting == Acting.REFUSED_FIRST && runs == 1) {
                throw new NotExecuted("refused");
            }
            if (acting == Acting.SLOW) {
                time.advance(LEASE.multipliedBy(2));
                claim.ensureHeld();
            }
            effects.add("paid " + (effects.size() + 1));
            if (acting == Acting.BROKEN_AFTER) {
                throw new IllegalStateException("broken after the effect");
            }
            return effects.get(effects.size() - 1);
        }

        @Override
        public void close() {
            once.close();
            time.close();
        }

        private final class ByLedger implements Reconciler {
            @Override
            public Finding reconcile(Entry unknown) {
                return effects.isEmpty()
                        ? new Finding.Absent("not on the ledger")
                        : new Finding.Found(Requests.bytes(effects.get(effects.size() - 1)));
            }

            @Override
            public Duration absentAfter() {
                return Duration.ZERO;
            }
        }
    }
}
