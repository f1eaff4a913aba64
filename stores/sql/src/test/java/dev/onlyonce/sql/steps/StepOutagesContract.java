package dev.onlyonce.sql.steps;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.Reconciler.Finding;
import dev.onlyonce.sql.Sources;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.State;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A node that loses its database in the middle of a stepped operation, while the database goes on for others. */
abstract class StepOutagesContract extends StepsBench {
    private static final Duration RETENTION = Duration.ofHours(24);
    /** More than a sweep, a late settlement's longest pause, and the pause of a store that failed. */
    private static final Duration A_WHILE = Duration.ofSeconds(5);

    /** Answers the next connections: null gives one, anything else is thrown. */
    private volatile IntFunction<Throwable> network;

    private int connections;
    private SqlStore cutOff;
    private Onlyonce node;
    private Steps flows;

    StepOutagesContract(TestDatabase database) {
        super(database);
    }

    /** The other node's background work would sweep what this one is about to release: it sweeps when the test says so. */
    @Override
    final Onlyonce.Builder configured(Onlyonce.Builder builder) {
        Duration never = Duration.ofDays(10_000);
        return builder.retention(RETENTION).sweepEvery(never).purgeEvery(never);
    }

    @BeforeEach
    final void startNode() {
        up();
        cutOff = SqlClock.store(Sources.of(this::connect)).build();
        // Sweeps come first wherever they can.
        node = Onlyonce.builder(cutOff)
                .node("cut-off")
                .time(time.alone())
                .lease(LEASE)
                .retention(RETENTION)
                .sweepEvery(Duration.ofMillis(100))
                .build();
        flows = Steps.of(node);
    }

    @AfterEach
    final void stopNode() {
        node.close();
        cutOff.close();
    }

    private Connection connect() throws SQLException {
        Throwable failure = network.apply(connections++);
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure != null) {
            throw (SQLException) failure;
        }
        return dataSource().getConnection();
    }

    private void up() {
        network = call -> null;
    }

    private void down() {
        network = call -> noConnection();
    }

    private static SQLException noConnection() {
        return new SQLException("no route to host", "08001");
    }

    /** Without a stack trace: two minutes of failures log thousands of them. */
    private static StackOverflowError planted() {
        StackOverflowError error = new StackOverflowError("planted");
        error.setStackTrace(new StackTraceElement[0]);
        return error;
    }

    private void pass(Duration span) {
        clock.advance(span);
        time.advance(span);
    }

    /** Reserves, and is told for sure that nobody was notified; meanwhile the database is gone. */
    private void failNotifying(Key key, Runnable meanwhile) {
        assertThatThrownBy(() -> flows.execute(
                        key,
                        REQUEST,
                        Codec.text(),
                        steps -> refund(steps, () -> {
                            meanwhile.run();
                            throw new NotExecuted("refused");
                        })))
                .isInstanceOf(NotExecuted.class);
    }

    private void assertReleased() {
        assertThat(entry().state()).isEqualTo(State.RETRYABLE);
        assertThat(entry().expiresAt()).isAfter(entry().settledAt().plus(RETENTION));
        assertNothingLeft();
        assertThat(execute(flows)).isInstanceOf(Outcome.Executed.class);
        assertThat(ran).containsExactly("reserve", "book", "notify", "notify");
    }

    private void assertNothingLeft() {
        assertThat(node.liveClaims()).isZero();
        assertThat(cutOff.access().halfDone().size()).isZero();
    }

    private Outcome<String> execute(Steps by) {
        try {
            return by.execute(KEY, REQUEST, Codec.text(), steps -> refund(steps, () -> {}));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 29, 31, 600})
    @DisplayName("D13 proof that nothing happened outlasts an outage, however long: the next request resumes")
    final void proofOutlastsOutage(int seconds) {
        failNotifying(KEY, this::down);
        pass(Duration.ofSeconds(seconds));
        up();
        pass(A_WHILE);
        assertReleased();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 8, 10})
    @DisplayName(
            "D13 the database comes back for a few calls and goes again: the release goes on after the second outage")
    final void secondOutage(int calls) {
        failNotifying(KEY, this::down);
        pass(LEASE.plusSeconds(1));
        int from = connections;
        network = call -> call - from < calls ? null : noConnection();
        pass(A_WHILE);
        pass(LEASE.plusSeconds(1));
        up();
        pass(A_WHILE);
        assertReleased();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6})
    @DisplayName("D12 an Error while a flow is released costs neither the claim nor what the flow threw")
    final void errorWhileReleasing(int after) {
        failNotifying(KEY, () -> {
            int from = connections;
            network = call -> call - from == after ? planted() : null;
        });
        pass(A_WHILE);
        assertReleased();
    }

    @Test
    @DisplayName("D12 a database that breaks for a while releases the claim when it is repaired")
    final void brokenForAWhile() {
        failNotifying(KEY, () -> network = call -> planted());
        pass(Duration.ofMinutes(2));
        up();
        pass(A_WHILE);
        assertReleased();
    }

    @Test
    @DisplayName(
            "D23 D8 another node has swept meanwhile: the late release is heard while nobody has decided, and what is half done is kept")
    final void sweptByAnother() {
        failNotifying(KEY, this::down);
        pass(LEASE.plusSeconds(1));
        assertThat(store.sweep(10)).hasSize(1);
        assertThat(entry().state()).isEqualTo(State.UNKNOWN);
        up();
        pass(A_WHILE);
        assertReleased();
    }

    @Test
    @DisplayName(
            "D2 D6 another node has swept, and an operator has decided meanwhile: the late release changes nothing")
    final void decidedMeanwhile() {
        failNotifying(KEY, this::down);
        pass(LEASE.plusSeconds(1));
        assertThat(store.sweep(10)).hasSize(1);
        once.operator().resolve(Resolution.found(KEY.entryId(), 1, Optional.empty(), "operator", "found"));
        up();
        pass(A_WHILE);
        assertThat(entry().state()).isEqualTo(State.COMPLETED);
        assertNothingLeft();
    }

    @Test
    @DisplayName("D15 D2 the entry was evicted and the key claimed again meanwhile: the late release leaves it alone")
    final void evictedMeanwhile() throws Exception {
        assertThatThrownBy(() -> flows.execute(KEY, REQUEST, Codec.text(), steps -> {
                    steps.effect("reserve", Codec.text(), key -> ran("reserve", "reserved"));
                    down();
                    throw new IllegalStateException("between two steps");
                }))
                .hasMessage("between two steps");
        pass(LEASE.plusSeconds(1));
        assertThat(store.sweep(10)).hasSize(1);
        assertThat(once.operator().evict(KEY, "operator", "a test")).isTrue();
        Outcome<String> second = stepped.execute(KEY, REQUEST, Codec.text(), steps -> {
            String result = steps.effect("reserve", Codec.text(), key -> ran("reserve", "reserved"));
            up();
            pass(A_WHILE);
            assertThat(entry().state()).isEqualTo(State.PROCESSING);
            assertNothingLeft();
            return result;
        });
        assertThat(value(second)).isEqualTo("reserved");
        assertThat(entry().expiresAt()).isEqualTo(entry().settledAt().plus(RETENTION));
    }

    @Test
    @DisplayName("D8 the process ends while it waits for its database: another node sweeps and resumes")
    final void shutDown() {
        assertThatThrownBy(() -> flows.execute(KEY, REQUEST, Codec.text(), steps -> {
                    steps.effect("reserve", Codec.text(), key -> ran("reserve", "reserved with it"));
                    down();
                    throw new IllegalStateException("between two steps");
                }))
                .hasMessage("between two steps");
        node.close();
        pass(LEASE.plusSeconds(1));
        store.sweep(10);
        clock.advance(RETENTION.multipliedBy(2));
        once.operator().purge();
        assertThat(execute(stepped)).isInstanceOf(Outcome.Executed.class);
        assertThat(ran).containsExactly("reserve", "book", "notify");
    }

    @Test
    @DisplayName("D12 D13 a hundred flows that lost their database are all released, and nothing of them is left")
    final void many() {
        int tasks = time.tasks();
        List<Key> keys = IntStream.range(0, 100)
                .mapToObj(i -> Key.of("tenant", "POST /refunds", "many-" + i))
                .toList();
        keys.forEach(key -> {
            up();
            failNotifying(key, this::down);
        });
        pass(LEASE.plusSeconds(1));
        up();
        pass(A_WHILE);
        keys.forEach(key -> assertThat(
                        store.find(List.of(key.entryId())).get(0).orElseThrow().state())
                .isEqualTo(State.RETRYABLE));
        assertNothingLeft();
        assertThat(time.tasks()).isEqualTo(tasks);
    }

    @Test
    @DisplayName("D8 a step that did not happen is not run later, even if an outage kept that from being recorded")
    final void proofNotRecorded() {
        assertThatThrownBy(() -> pay(() -> {
                    throw new NotExecuted("the second bank refuses too, for now");
                }))
                .isInstanceOf(NotExecuted.class);
        assertThat(pay(() -> {})).isInstanceOf(Outcome.Executed.class);
        assertThat(ran).containsExactly("first bank", "deposit", "second bank", "second bank");
    }

    @Test
    @DisplayName("D6 reconciling asks for the step in doubt, not for an earlier one that is known not to have happened")
    final void proofNotRecordedBeforeDoubt() throws Exception {
        assertThatThrownBy(() -> pay(() -> {
                    throw new IllegalStateException("reset");
                }))
                .hasMessage("reset");
        StringBuilder asked = new StringBuilder();
        Finding finding = Steps.reconciler(store, (unknown, step, key) -> {
                    asked.append(step);
                    return new Finding.Found("paid".getBytes(StandardCharsets.UTF_8));
                })
                .reconcile(entry());
        assertThat(asked).hasToString("second bank");
        assertThat(finding).isInstanceOf(Finding.Absent.class);
        once.operator().resolve(Resolution.absent(KEY.entryId(), 1, "reconciler", "found and recorded"));
        assertThat(value(pay(() -> {}))).isEqualTo("paid");
        assertThat(ran).containsExactly("first bank", "deposit", "second bank");
    }

    /** The first bank refuses while the database is out; the second is asked for the money then. */
    private Outcome<String> pay(Runnable second) {
        return flows.execute(KEY, REQUEST, Codec.text(), steps -> {
            try {
                return steps.effect("first bank", Codec.text(), key -> {
                    ran.add("first bank");
                    down();
                    throw new NotExecuted("refused");
                });
            } catch (NotExecuted e) {
                up();
            }
            steps.repeatable("deposit", Codec.text(), key -> ran("deposit", ""));
            return steps.effect("second bank", Codec.text(), key -> {
                ran.add("second bank");
                second.run();
                return "paid";
            });
        });
    }
}
