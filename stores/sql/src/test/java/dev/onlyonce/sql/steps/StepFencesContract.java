package dev.onlyonce.sql.steps;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.LeaseLost;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.Reconciler;
import dev.onlyonce.Reconciler.Finding;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.State;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may go on with a stepped operation, and what is remembered of one that nobody goes on with. */
abstract class StepFencesContract extends StepsBench implements StepReconciler {
    private static final Duration RETENTION = Duration.ofHours(24);

    private volatile Finding finding;
    private volatile String asked = "";

    StepFencesContract(TestDatabase database) {
        super(database);
    }

    @Override
    final Onlyonce.Builder configured(Onlyonce.Builder builder) {
        finding = new Finding.CannotTell("nobody has looked");
        Policy broken = Policy.builder()
                .lease(LEASE)
                .failures(thrown -> {
                    throw new IllegalStateException("a broken rule");
                })
                .build();
        return builder.retention(RETENTION)
                .callMax(Duration.ZERO)
                .reconciler(KEY.operation(), Steps.reconciler(store, this))
                .operation("broken rule", broken);
    }

    @Override
    public final Finding reconcile(Entry unknown, String step, String downstreamKey) {
        asked = step + " with " + downstreamKey;
        return finding;
    }

    @Override
    public final Duration absentAfter() {
        return Duration.ZERO;
    }

    /** What a fenced-out owner does next. */
    enum Next {
        EFFECT {
            @Override
            String run(StepRunner steps, Runnable running) {
                return steps.effect("late", Codec.text(), key -> ran(running));
            }
        },
        LOCAL {
            @Override
            String run(StepRunner steps, Runnable running) throws SQLException {
                return steps.local("late", Codec.text(), connection -> {
                    insert(connection);
                    return ran(() -> {});
                });
            }
        },
        REPEATABLE {
            @Override
            String run(StepRunner steps, Runnable running) {
                return steps.repeatable("late", Codec.text(), key -> ran(() -> {}));
            }
        };

        abstract String run(StepRunner steps, Runnable running) throws SQLException;

        static String ran(Runnable running) {
            running.run();
            return "ran";
        }
    }

    @ParameterizedTest
    @EnumSource(Next.class)
    @DisplayName(
            "D15 D2 an owner that was fenced out stays out after its entry was evicted and the key was claimed anew")
    final void evictedUnderTheOwner(Next next) throws Exception {
        zombie(next, () -> {
            clock.advance(LEASE.plusSeconds(1));
            store.sweep(10);
            assertThat(once.operator().evict(KEY, "operator", "a test")).isTrue();
        });
    }

    @ParameterizedTest
    @EnumSource(Next.class)
    @DisplayName("D15 D2 an owner that was fenced out stays out after the retention, when the key was claimed anew")
    final void expiredUnderTheOwner(Next next) throws Exception {
        zombie(next, () -> {
            clock.advance(LEASE.plusSeconds(1));
            store.sweep(10);
            clock.advance(RETENTION.plusSeconds(1));
        });
    }

    /** One owner stands still before its first step, another one begins the key anew and is in the middle of its own. */
    private void zombie(Next next, Runnable meanwhile) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch claimedAnew = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (Onlyonce other = otherNode()) {
            Future<Outcome<String>> zombie = threads.submit(() -> stepped.execute(KEY, REQUEST, Codec.text(), steps -> {
                begun.countDown();
                await(claimedAnew);
                return next.run(steps, () -> ran.add("the zombie's effect"));
            }));
            await(begun);
            meanwhile.run();
            Future<Outcome<String>> anew =
                    threads.submit(() -> Steps.of(other).execute(KEY, REQUEST, Codec.text(), steps -> {
                        claimedAnew.countDown();
                        await(goOn);
                        return "done by " + steps.attempt();
                    }));
            assertThatThrownBy(() -> zombie.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(LeaseLost.class);
            assertThat(ran).isEmpty();
            assertThat(number("SELECT count(*) FROM effect")).isZero();
            assertThat(number("SELECT count(*) FROM onlyonce_step")).isZero();
            goOn.countDown();
            assertThat(value(anew.get(60, TimeUnit.SECONDS))).isEqualTo("done by 1");
        } finally {
            claimedAnew.countDown();
            goOn.countDown();
            threads.shutdownNow();
        }
    }

    @Test
    @DisplayName("D15 R7 an evicted operation starts anew, even if its key is claimed again at the very same time")
    final void evictedAtTheSameTime() throws Exception {
        failNotifying();
        assertThat(once.operator().evict(KEY, "operator", "a test")).isTrue();
        assertThat(execute(() -> {})).isInstanceOf(Outcome.Executed.class);
        assertThat(ran).containsExactly("reserve", "book", "notify", "reserve", "book", "notify");
    }

    @Test
    @DisplayName(
            "D1 an effect that starts on a lapsed lease renews it: a sweep does not give the entry to anybody else")
    final void startsOnLapsedLease() throws Exception {
        assertThat(stepped.execute(KEY, REQUEST, Codec.text(), steps -> {
                    clock.advance(LEASE.plusSeconds(1));
                    return steps.effect("charge", Codec.text(), key -> {
                        assertThat(store.sweep(10)).isEmpty();
                        return "charged";
                    });
                }))
                .isInstanceOf(Outcome.Executed.class);
    }

    @Test
    @DisplayName(
            "D4 D6 a step in doubt is listed as unknown without its client; found, the flow resumes with its result")
    final void foundStep() throws Exception {
        dieNotifying();
        assertThat(once.operator().list(EntryQuery.all(10).in(State.UNKNOWN))).hasSize(1);
        assertThat(once.operator().reconcile().undecided()).isEqualTo(1);
        finding = new Finding.Found("found it".getBytes(StandardCharsets.UTF_8));
        once.operator().reconcile();
        assertThat(asked).startsWith("notify with ");
        assertThat(entry().state()).isEqualTo(State.RETRYABLE);
        assertThat(value(execute(() -> {}))).endsWith(", booked, found it");
        assertThat(ran).containsExactly("reserve", "book", "notify");
    }

    @Test
    @DisplayName("D6 a step in doubt that is found without its result, or not found out, stays unknown")
    final void notFoundOut() throws Exception {
        dieNotifying();
        for (Finding unclear : List.of(new Finding.Found(), new Finding.CannotTell("they do not answer"))) {
            finding = unclear;
            assertThat(once.operator().reconcile()).isEqualTo(new Reconciler.Round(1, 0, 0, 1));
            assertThat(entry().state()).isEqualTo(State.UNKNOWN);
        }
    }

    @Test
    @DisplayName("D6 D8 a step in doubt that is proven absent is run again by the next request, and nothing else is")
    final void absentStep() throws Exception {
        dieNotifying();
        finding = new Finding.Absent("they do not know the key");
        once.operator().reconcile();
        assertThat(execute(() -> {})).isInstanceOf(Outcome.Executed.class);
        assertThat(ran).containsExactly("reserve", "book", "notify", "notify");
    }

    @Test
    @DisplayName("D6 a finding about an attempt of before changes no step")
    final void lateFinding() throws Exception {
        dieNotifying();
        Entry before = entry();
        once.operator().resolve(Resolution.absent(KEY.entryId(), before.attempt(), "operator", "absent"));
        dieNotifying();
        finding = new Finding.Found("of before".getBytes(StandardCharsets.UTF_8));
        assertThat(Steps.reconciler(store, this).reconcile(before)).isInstanceOf(Finding.CannotTell.class);
        assertThat(number("SELECT count(*) FROM onlyonce_step WHERE state = 2")).isEqualTo(2);
    }

    /** A name as the database keeps it. */
    String name(String name) {
        return "'" + name + "'";
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"its step failed", "its owner died", "its doubt was resolved"})
    @DisplayName("D8 T2 what is half done is remembered past its retention: whenever its client comes back, it resumes")
    final void halfDone(String how) throws Exception {
        switch (how) {
            case "its step failed" -> failNotifying();
            case "its owner died" -> dieBetweenSteps();
            default -> {
                dieNotifying();
                once.operator().resolve(Resolution.absent(KEY.entryId(), 1, "operator", "absent"));
            }
        }
        assertThat(entry().state()).isEqualTo(State.RETRYABLE);
        clock.advance(RETENTION.multipliedBy(3));
        once.operator().purge();
        clock.advance(RETENTION.multipliedBy(3));
        int before = ran.size();
        Outcome<String> late = execute(() -> {});
        assertThat(ran.subList(before, ran.size())).doesNotContain("reserve").endsWith("notify");
        assertThat(((Outcome.Executed<String>) late).expiresAt())
                .isEqualTo(entry().settledAt().plus(RETENTION));
    }

    @Test
    @DisplayName("T3 what was resolved as done, or never began, expires as everything else")
    final void notHalfDone() throws Exception {
        dieNotifying();
        once.operator().resolve(Resolution.found(KEY.entryId(), 1, Optional.empty(), "operator", "seen"));
        assertThat(entry().expiresAt()).isEqualTo(entry().settledAt().plus(RETENTION));
        clock.advance(RETENTION.plusSeconds(1));
        assertThatThrownBy(() -> stepped.execute(KEY, REQUEST, Codec.text(), steps -> {
                    throw new IllegalStateException("before the first step");
                }))
                .hasMessage("before the first step");
        assertThat(entry().expiresAt()).isEqualTo(entry().settledAt().plus(RETENTION));
    }

    @Test
    @DisplayName("D11 a failure rule that throws does not keep the claim: what the steps prove stands")
    final void brokenRule() {
        Key key = Key.of("tenant", "broken rule", "key-1");
        assertThatThrownBy(() -> stepped.execute(key, REQUEST, Codec.text(), steps -> {
                    throw new IllegalStateException("the flow's own");
                }))
                .hasMessage("the flow's own")
                .hasSuppressedException(new IllegalStateException("a broken rule"));
        assertThat(store.find(List.of(key.entryId())).get(0).orElseThrow().state())
                .isEqualTo(State.RETRYABLE);
        assertThat(once.liveClaims()).isZero();
    }

    @Test
    @DisplayName("D11 D12 an Error from a flow or a codec does not keep the claim")
    final void errors() {
        assertThatThrownBy(() -> stepped.execute(KEY, REQUEST, Codec.text(), steps -> {
                    throw new StackOverflowError();
                }))
                .isInstanceOf(StackOverflowError.class);
        assertThat(entry().state()).isEqualTo(State.RETRYABLE);
        Codec<String> broken = Codec.of(
                text -> {
                    throw new StackOverflowError();
                },
                bytes -> "");
        assertThatThrownBy(() -> stepped.execute(KEY, REQUEST, broken, steps -> "done"))
                .isInstanceOf(StackOverflowError.class);
        assertThat(entry().state()).isEqualTo(State.COMPLETED);
        assertThat(once.liveClaims()).isZero();
    }

    /** An owner reserves and books, and is told for sure that its notification was not taken. */
    private void failNotifying() {
        assertThatThrownBy(() -> execute(() -> {
                    throw new NotExecuted("refused");
                }))
                .isInstanceOf(NotExecuted.class);
    }

    private void dieBetweenSteps() throws Exception {
        die(steps -> steps.effect("reserve", Codec.text(), key -> ran("reserve", "reserved")), "");
    }

    private void dieNotifying() throws Exception {
        die(steps -> "", "notify");
    }

    /** An owner that runs the flow, or the whole refund up to its notification, is gone for longer than its lease. */
    private void die(Flow<String, RuntimeException> flow, String step) throws Exception {
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Runnable gone = () -> {
            called.countDown();
            await(goOn);
        };
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<?> owner = thread.submit(() -> step.isEmpty()
                    ? stepped.execute(KEY, REQUEST, Codec.text(), steps -> {
                        String result = flow.run(steps);
                        gone.run();
                        steps.local("book", Codec.text(), connection -> "never");
                        return result;
                    })
                    : execute(gone));
            await(called);
            clock.advance(LEASE.plusSeconds(1));
            store.sweep(10);
            goOn.countDown();
            assertThatThrownBy(() -> owner.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(LeaseLost.class);
        } finally {
            goOn.countDown();
            thread.shutdownNow();
        }
    }
}
