package dev.onlyonce.sql.steps;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.LeaseLost;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.sql.Claims;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.State;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The stepped way, the same on every database, with clocks that only move when told. */
abstract class StepsContract extends StepsBench {
    StepsContract(TestDatabase database) {
        super(database);
    }

    @Test
    @DisplayName("D8 all steps run once, in order; a repeat replays the result, and no steps are left")
    void runs() throws Exception {
        Outcome<String> first = execute(() -> {});
        assertThat(first).isInstanceOf(Outcome.Executed.class);
        assertThat(execute(() -> {})).isInstanceOf(Outcome.Replayed.class);
        assertThat(ran).containsExactly("reserve", "book", "notify");
        assertThat(number("SELECT count(*) FROM onlyonce_step")).isZero();
        assertThat(number("SELECT count(*) FROM effect")).isEqualTo(1);
    }

    @Test
    @DisplayName(
            "D8 D5 a step that proves it did nothing is run by the next attempt, which gets the earlier results back")
    void resumes() throws Exception {
        assertThatThrownBy(() -> execute(() -> {
                    throw new NotExecuted("refused");
                }))
                .isInstanceOf(NotExecuted.class);
        assertThat(entry().state()).isEqualTo(State.RETRYABLE);
        assertThat(value(execute(() -> {}))).startsWith("reserved with ").endsWith(", booked, notified");
        assertThat(ran).containsExactly("reserve", "book", "notify", "notify");
        assertThat(number("SELECT count(*) FROM effect")).isEqualTo(1);
    }

    @Test
    @DisplayName("S2 the audit has the whole way of a stepped operation")
    void audited() throws Exception {
        assertThatThrownBy(() -> execute(() -> {
                    throw new NotExecuted("refused");
                }))
                .isInstanceOf(NotExecuted.class);
        assertThatThrownBy(() -> execute(() -> {
                    throw new IllegalStateException("reset");
                }))
                .isInstanceOf(IllegalStateException.class);
        once.operator()
                .resolve(new Resolution(KEY.entryId(), 2, State.RETRYABLE, null, "alice", "they have not got it"));
        execute(() -> {});
        execute(() -> {});
        assertThat(Claims.history(store, KEY))
                .containsExactly(
                        "1 null>PROCESSING stepper: claimed",
                        "1 PROCESSING>RETRYABLE stepper: dev.onlyonce.NotExecuted",
                        "2 RETRYABLE>PROCESSING stepper: claimed",
                        "2 PROCESSING>UNKNOWN stepper: in doubt: java.lang.IllegalStateException: reset",
                        "2 UNKNOWN>RETRYABLE alice: they have not got it",
                        "3 RETRYABLE>PROCESSING stepper: claimed",
                        "3 PROCESSING>COMPLETED stepper: completed");
    }

    @Test
    @DisplayName("D4 D6 an effect that throws is unknown: nothing runs until it is proven absent, then it runs again")
    void inDoubt() throws Exception {
        IllegalStateException reset = new IllegalStateException("reset");
        assertThatThrownBy(() -> execute(() -> {
                    throw reset;
                }))
                .isSameAs(reset);
        assertThat(entry().state()).isEqualTo(State.UNKNOWN);
        assertThat(execute(() -> {})).isInstanceOf(Outcome.Unknown.class);
        assertThat(ran).containsExactly("reserve", "book", "notify");
        once.operator()
                .resolve(new Resolution(KEY.entryId(), 1, State.RETRYABLE, null, "operator", "they have not got it"));
        assertThat(execute(() -> {})).isInstanceOf(Outcome.Executed.class);
        assertThat(ran).containsExactly("reserve", "book", "notify", "notify");
    }

    @Test
    @DisplayName(
            "D1 D2 D8 an owner that is gone in the middle of an effect leaves an unknown entry; back again, it records nothing")
    void ownerGone() throws Exception {
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<Outcome<String>> zombie = thread.submit(() -> execute(() -> {
                called.countDown();
                await(goOn);
            }));
            await(called);
            clock.advance(LEASE.plusSeconds(1));
            store.sweep(10);
            assertThat(entry().state()).isEqualTo(State.UNKNOWN);
            assertThat(executeElsewhere()).isInstanceOf(Outcome.Unknown.class);
            assertThat(ran).containsExactly("reserve", "book", "notify");
            goOn.countDown();
            assertThatThrownBy(() -> zombie.get(60, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(LeaseLost.class);
        } finally {
            goOn.countDown();
            thread.shutdownNow();
        }
        assertThat(entry().state()).isEqualTo(State.UNKNOWN);
        assertThat(number("SELECT count(*) FROM onlyonce_step WHERE state = 2")).isEqualTo(2);
        once.operator().resolve(new Resolution(KEY.entryId(), 1, State.RETRYABLE, null, "reconciler", "absent"));
        assertThat(execute(() -> {})).isInstanceOf(Outcome.Executed.class);
        assertThat(ran).containsExactly("reserve", "book", "notify", "notify");
    }

    @Test
    @DisplayName("D8 an owner that is gone between two steps: the next attempt resumes after the last finished one")
    void goneBetweenSteps() throws Exception {
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<Outcome<String>> zombie = thread.submit(() -> stepped.execute(KEY, REQUEST, Codec.text(), steps -> {
                steps.effect("reserve", Codec.text(), key -> ran("reserve", "reserved"));
                called.countDown();
                await(goOn);
                return steps.local("book", Codec.text(), c -> ran("never", "booked"));
            }));
            await(called);
            clock.advance(LEASE.plusSeconds(1));
            store.sweep(10);
            assertThat(value(executeElsewhere())).isEqualTo("reserved, booked, notified");
            goOn.countDown();
            assertThatThrownBy(() -> zombie.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(LeaseLost.class);
        } finally {
            goOn.countDown();
            thread.shutdownNow();
        }
        assertThat(ran).containsExactly("reserve", "book", "notify");
        assertThat(entry().state()).isEqualTo(State.COMPLETED);
    }

    /** On a node that does not know what runs on this one. */
    private Outcome<String> executeElsewhere() throws SQLException {
        try (Onlyonce other = otherNode()) {
            return Steps.of(other).execute(KEY, REQUEST, Codec.text(), steps -> refund(steps, () -> {}));
        }
    }

    @Test
    @DisplayName("A database step that throws leaves nothing behind, and is run again")
    void localRollsBack() throws Exception {
        Flow<String, SQLException> flow = steps -> steps.local("book", Codec.text(), connection -> {
            insert(connection);
            if (ran.isEmpty()) {
                ran.add("failed");
                throw new SQLException("no");
            }
            return "booked";
        });
        assertThatThrownBy(() -> stepped.execute(KEY, REQUEST, Codec.text(), flow))
                .isInstanceOf(SQLException.class)
                .hasMessage("no");
        assertThat(number("SELECT count(*) FROM effect")).isZero();
        assertThat(stepped.execute(KEY, REQUEST, Codec.text(), flow)).isInstanceOf(Outcome.Executed.class);
        assertThat(number("SELECT count(*) FROM effect")).isEqualTo(1);
    }

    @Test
    @DisplayName("A repeatable step is run again with the same downstream key")
    void repeatable() {
        Set<String> keys = new HashSet<>();
        Flow<String, RuntimeException> flow = steps -> steps.repeatable("charge", Codec.text(), key -> {
            keys.add(key);
            if (ran.isEmpty()) {
                ran.add("lost");
                throw new IllegalStateException("reset");
            }
            return "charged";
        });
        assertThatThrownBy(() -> stepped.execute(KEY, REQUEST, Codec.text(), flow))
                .hasMessage("reset");
        assertThat(entry().state()).isEqualTo(State.RETRYABLE);
        assertThat(stepped.execute(KEY, REQUEST, Codec.text(), flow)).isInstanceOf(Outcome.Executed.class);
        assertThat(keys).hasSize(1);
    }

    @Test
    @DisplayName("D8 a flow that goes on after a step has failed can be resumed: finished steps are not run again")
    void goesOnAfterFailure() throws Exception {
        Flow<String, SQLException> flow = steps -> {
            try {
                steps.repeatable("warn", Codec.text(), key -> {
                    ran("warn", "");
                    throw new IllegalStateException("nobody answers");
                });
            } catch (IllegalStateException e) {
                ran.add(e.getMessage());
            }
            return refund(steps, () -> {
                if (steps.attempt() == 1) {
                    throw new NotExecuted("refused");
                }
            });
        };
        assertThatThrownBy(() -> stepped.execute(KEY, REQUEST, Codec.text(), flow))
                .isInstanceOf(NotExecuted.class);
        assertThat(value(stepped.execute(KEY, REQUEST, Codec.text(), flow))).endsWith(", booked, notified");
        assertThat(ran)
                .containsExactly(
                        "warn", "nobody answers", "reserve", "book", "notify", "warn", "nobody answers", "notify");
    }

    @Test
    @DisplayName("D8 a flow that went another way because an effect did not happen goes the same way when it resumes")
    void goesAnotherWay() throws Exception {
        Flow<String, RuntimeException> flow = steps -> {
            String charged;
            try {
                charged = steps.effect("first bank", Codec.text(), key -> {
                    ran.add("first bank");
                    if (steps.attempt() == 1) {
                        throw new NotExecuted("refused");
                    }
                    return "charged by the first";
                });
            } catch (NotExecuted e) {
                charged = steps.effect("second bank", Codec.text(), key -> ran("second bank", "charged by the second"));
            }
            steps.effect("notify", Codec.text(), key -> {
                if (steps.attempt() == 1) {
                    throw new NotExecuted("refused");
                }
                return "notified";
            });
            return charged;
        };
        assertThatThrownBy(() -> stepped.execute(KEY, REQUEST, Codec.text(), flow))
                .isInstanceOf(NotExecuted.class);
        assertThat(value(stepped.execute(KEY, REQUEST, Codec.text(), flow))).isEqualTo("charged by the second");
        assertThat(ran).containsExactly("first bank", "second bank");
        assertThat(number("SELECT count(*) FROM onlyonce_step")).isZero();
    }

    @Test
    @DisplayName("A changed flow is an error, runs nothing, and leaves the operation resumable")
    void changedFlow() throws Exception {
        assertThatThrownBy(() -> execute(() -> {
                    throw new NotExecuted("refused");
                }))
                .isInstanceOf(NotExecuted.class);
        assertThatThrownBy(() -> stepped.execute(
                        KEY,
                        REQUEST,
                        Codec.text(),
                        steps -> steps.effect("charge", Codec.text(), key -> ran("charge", "charged"))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("'reserve'")
                .hasMessageContaining("'charge'");
        assertThatThrownBy(() -> stepped.execute(KEY, REQUEST, Codec.text(), steps -> "nothing to do"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("ended before");
        assertThat(execute(() -> {})).isInstanceOf(Outcome.Executed.class);
        assertThat(ran).containsExactly("reserve", "book", "notify", "notify");
    }

    @Test
    @DisplayName("T3 steps of an operation that ended otherwise go with the purge of entries, and not before")
    void purged() throws Exception {
        assertThatThrownBy(() -> execute(() -> {
                    throw new IllegalStateException("reset");
                }))
                .hasMessage("reset");
        store.purge(100);
        assertThat(number("SELECT count(*) FROM onlyonce_step"))
                .as("still needed")
                .isPositive();
        once.operator()
                .resolve(new Resolution(
                        KEY.entryId(),
                        1,
                        State.COMPLETED,
                        "found".getBytes(StandardCharsets.UTF_8),
                        "operator",
                        "found"));
        assertThat(value(execute(() -> {}))).isEqualTo("found");
        store.purge(100);
        assertThat(number("SELECT count(*) FROM onlyonce_step")).isZero();
    }

    @Test
    @DisplayName("D8 D4 a step that another thread calls is refused before its effect; the flow resumes")
    void anotherThread() throws Exception {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Flow<String, Exception> parallel = steps -> {
                Callable<String> other = () -> steps.effect("parallel", Codec.text(), key -> ran("parallel", "never"));
                assertRefused(thread.submit(other));
                return steps.effect("reserve", Codec.text(), key -> {
                    assertRefused(thread.submit(other));
                    return ran("reserve", "reserved");
                });
            };
            assertThat(value(stepped.execute(KEY, REQUEST, Codec.text(), parallel)))
                    .isEqualTo("reserved");
        } finally {
            thread.shutdownNow();
        }
        assertThat(ran).containsExactly("reserve");
        assertThat(entry().state()).isEqualTo(State.COMPLETED);
    }

    private static void assertRefused(Future<String> step) {
        assertThatThrownBy(() -> step.get(60, TimeUnit.SECONDS))
                .hasCauseInstanceOf(IllegalStateException.class)
                .hasMessageContaining("'parallel' was called by another thread");
    }

    @Test
    @DisplayName("D8 a step inside another step is refused, and the outer step keeps its own place")
    void nested() throws Exception {
        Flow<String, RuntimeException> flow = steps -> steps.repeatable("outer", Codec.text(), key -> {
            if (steps.attempt() == 1) {
                return steps.repeatable("inner", Codec.text(), k -> ran("inner", "never"));
            }
            return ran("outer", "done");
        });
        assertThatThrownBy(() -> stepped.execute(KEY, REQUEST, Codec.text(), flow))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("'inner'")
                .hasMessageContaining("'outer'");
        assertThat(value(stepped.execute(KEY, REQUEST, Codec.text(), flow))).isEqualTo("done");
        assertThat(ran).containsExactly("outer");
    }

    @Test
    @DisplayName("D8 a step that is called after its flow has ended is refused before its effect")
    void afterTheEnd() {
        List<StepRunner> kept = new ArrayList<>();
        assertThat(stepped.execute(KEY, REQUEST, Codec.text(), steps -> {
                    kept.add(steps);
                    return "done";
                }))
                .isInstanceOf(Outcome.Executed.class);
        assertThatThrownBy(() -> kept.get(0).repeatable("late", Codec.text(), key -> ran("late", "never")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("'late'");
        assertThat(ran).isEmpty();
    }
}
