package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Begun;
import dev.onlyonce.Ending;
import dev.onlyonce.Key;
import dev.onlyonce.OpenClaim;
import dev.onlyonce.Policy;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.SettleResult;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Bursts of requests from many tenants, on one node and one thread, in simulated time. Somebody else locks a row of one
 * tenant, and every call with that row waits for the lock before it fails. Nobody else may wait for long.
 */
class LockWaitsTest {
    private static final int SEEDS = Boolean.getBoolean("onlyonce.thorough") ? 20 : 5;
    private static final int BURSTS = 30;
    private static final Fingerprint REQUEST = Requests.fingerprint("a payment");
    private static final Policy POLICY = Policy.standard();

    /** Whoever would block holds up nobody but itself; on this one thread it would hold up all. */
    private static final Executor NOBODY = work -> {
        throw new RejectedExecutionException("nobody blocks here");
    };

    /** How long a call waits for a lock. */
    private static final Duration LOCK_WAIT = Duration.ofMillis(500);
    /** A batch waits once with the locked row in it, and once for that row alone. */
    private static final Duration WAIT_MAX = LOCK_WAIT.multipliedBy(2).plus(Duration.ofMillis(100));

    /** When the row of the one tenant is locked. */
    private static final List<Locked> LOCKED = List.of(Locked.values());

    private enum Locked {
        BEFORE_THE_CLAIM,
        BEFORE_THE_SETTLEMENT,
        NEVER
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 7, 24, 64})
    @DisplayName("D11 a locked row of one tenant costs the others a few lock waits at most, however many they are")
    void others(int tenants) {
        for (long seed = 1; seed <= SEEDS; seed++) {
            Duration longest = new Run(seed, tenants).play();
            assertThat(longest).as("seed %d: the longest wait", seed).isLessThanOrEqualTo(WAIT_MAX);
        }
    }

    @Test
    @DisplayName("locked rows do cost their callers time here")
    void waits() {
        assertThat(new Run(1, 24).play()).isGreaterThanOrEqualTo(LOCK_WAIT);
    }

    /** One seed. */
    private static final class Run {
        private final long seed;
        private final World world;
        private final HeldRows rows;
        private final Machine machine;
        private final int tenants;
        private Duration longest = Duration.ZERO;
        private int answered;
        private boolean waiting;

        Run(long seed, int tenants) {
            this.seed = seed;
            this.tenants = tenants;
            world = new World(seed, false, EnumSet.of(Trouble.LOCKED_ROWS));
            rows = new HeldRows(new MemoryStore(new Simulation.StoreTime(world)), this::waitForLock);
            machine = new Machine(world, "node", rows, builder -> builder.build());
        }

        /** Calls that wait at the same time do so side by side, not one after the other as their frames on this thread. */
        private void waitForLock() {
            if (!waiting) {
                waiting = true;
                world.pass(LOCK_WAIT);
                waiting = false;
            }
        }

        /** Returns how long somebody waited for the store whose row nobody had locked. */
        Duration play() {
            Duration at = Duration.ZERO;
            for (int burst = 0; burst < BURSTS; burst++) {
                String name = "burst-" + burst;
                at = at.plus(world.upTo(Duration.ofSeconds(4)));
                world.after(at, () -> burst(name));
            }
            world.pass(at.plus(Duration.ofMinutes(1)));
            assertThat(answered).as("seed %d: answers", seed).isEqualTo(BURSTS * tenants);
            return longest;
        }

        private void burst(String name) {
            int one = world.pick(tenants + 1);
            for (int tenant = 0; tenant < tenants; tenant++) {
                if (tenant == one) {
                    lockedOne(Key.of("locked", "pay", name));
                }
                Key key = Key.of("tenant-" + tenant, "pay", name);
                begin(key, claim -> world.after(Duration.ofMillis(50), () -> settle(claim, true)));
            }
        }

        private void lockedOne(Key key) {
            Locked locked = LOCKED.get(world.pick(LOCKED.size()));
            if (locked == Locked.BEFORE_THE_CLAIM) {
                lock(key);
            }
            var unused = machine.once()
                    .registry()
                    .claim(key, REQUEST, POLICY, NOBODY)
                    .thenAccept(begun -> {
                        if (begun instanceof Begun.Claimed claimed) {
                            if (locked == Locked.BEFORE_THE_SETTLEMENT) {
                                lock(key);
                            }
                            world.after(Duration.ofMillis(50), () -> settle(claimed.claim(), false));
                        }
                    });
        }

        private void lock(Key key) {
            rows.lock(key.entryId());
            world.after(world.upTo(Duration.ofSeconds(20)), () -> rows.letGo(key.entryId()));
        }

        private void begin(Key key, Consumer<OpenClaim> then) {
            measured(machine.once().registry().claim(key, REQUEST, POLICY, NOBODY), begun -> {
                assertThat(begun).as("seed %d: %s", seed, key).isInstanceOf(Begun.Claimed.class);
                then.accept(((Begun.Claimed) begun).claim());
            });
        }

        private void settle(OpenClaim claim, boolean isOther) {
            CompletionStage<SettleResult> settled = claim.settle(new Ending.Completed(Requests.bytes("paid")), NOBODY);
            if (isOther) {
                measured(settled, result -> {
                    assertThat(result).as("seed %d: %s", seed, claim.key()).isInstanceOf(SettleResult.Settled.class);
                    answered++;
                });
            }
        }

        private <T> void measured(CompletionStage<T> stage, Consumer<T> then) {
            long asked = world.nanos();
            var unused = stage.whenComplete((result, failure) -> machine.run(() -> {
                assertThat(failure).as("seed %d: another's trouble", seed).isNull();
                Duration waited = Duration.ofNanos(world.nanos() - asked);
                longest = waited.compareTo(longest) > 0 ? waited : longest;
                then.accept(result);
            }));
        }
    }
}
