package dev.onlyonce.testkit;

import dev.onlyonce.Claim;
import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.LeaseLost;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import java.io.Serial;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Sends one request again and again, to any machine, until it has been answered for good a few times. */
final class Customer {
    private final World world;
    private final Ledger ledger;
    private final Supplier<Machine> machines;
    private final String name;
    private final Key key;
    private final String body;
    private final Fingerprint fingerprint;
    private int answersWanted;
    private Predicate<Key> explains = any -> true;
    private Runnable outage = () -> {};

    /**
     * A customer with a request of its own.
     *
     * @param machines picks one to talk to
     */
    Customer(World world, Ledger ledger, Supplier<Machine> machines, String name, Key key, String body) {
        this.world = world;
        this.ledger = ledger;
        this.machines = machines;
        this.name = name;
        this.key = key;
        this.body = body;
        this.fingerprint = Requests.fingerprint(body);
        this.answersWanted = 1 + world.pick(3);
    }

    /**
     * Says what this customer must not meet.
     *
     * @param explains whether trouble with a key is to be expected
     * @param outage begins one, for a customer in the middle of its action
     */
    Customer unless(Predicate<Key> explains, Runnable outage) {
        this.explains = explains;
        this.outage = outage;
        return this;
    }

    /** Trouble that nothing explains: somebody else's has become this customer's. */
    private void meets(Object trouble) {
        if (!explains.test(key)) {
            throw new AssertionError("D11 somebody else's trouble reached " + this + ": " + trouble);
        }
    }

    boolean isDone() {
        return answersWanted == 0;
    }

    @Override
    public String toString() {
        return name + " with " + key.value() + " " + body;
    }

    void sendWithin(Duration max) {
        world.after(world.upTo(max), this::send);
    }

    private void send() {
        Machine machine = machines.get();
        if (machine.isDead()) {
            told(false);
        } else if (world.pick(3) == 0) {
            note("asks " + machine.name() + " for " + key.value() + " " + body + ", and does not block");
            new LaterRequest(world, machine, this, this::told).send();
        } else {
            told(ask(machine));
        }
    }

    private void told(boolean isFinal) {
        if (isFinal) {
            answersWanted--;
        }
        if (!isDone()) {
            sendWithin(Duration.ofSeconds(world.isHealed() ? 5 : 20));
        }
    }

    Key key() {
        return key;
    }

    Fingerprint fingerprint() {
        return fingerprint;
    }

    void note(String what) {
        world.note(name, what);
    }

    /** Whether the answer is final. */
    private boolean ask(Machine machine) {
        note("asks " + machine.name() + " for " + key.value() + " " + body);
        Instant asked = world.now();
        boolean[] begun = new boolean[1];
        try {
            if (world.oneIn(6, Trouble.INTERRUPTS)) {
                Thread.currentThread().interrupt();
            }
            Outcome<String> outcome = machine.once().execute(key, fingerprint, Codec.text(), claim -> {
                begun[0] = true;
                if (!claim.isHeld()) {
                    throw new AssertionError("D14 an action starts on a lapsed lease: " + this);
                }
                // What else runs on this thread meanwhile was not interrupted.
                boolean interrupted = Thread.interrupted();
                String result = act(machine, claim);
                if (interrupted || world.oneIn(6, Trouble.INTERRUPTS)) {
                    Thread.currentThread().interrupt();
                }
                return result;
            });
            return isAnswered(asked, outcome);
        } catch (StoreException e) {
            refused(e, begun[0]);
        } catch (Crash | Timeout | NotExecuted | LeaseLost e) {
            note("gets no answer: " + e);
            if (e instanceof LeaseLost) {
                meets(e);
            }
        } finally {
            Thread.interrupted();
        }
        return false;
    }

    /** Checks an answer; returns whether it is final. */
    boolean isAnswered(Instant asked, Outcome<String> outcome) {
        note("is told " + outcome);
        ledger.answered(key, fingerprint, body, asked, outcome);
        return !(outcome instanceof Outcome.InFlight || outcome instanceof Outcome.Unknown);
    }

    /** Checks a refusal of the store. */
    void refused(StoreException e, boolean ran) {
        note("is told " + e);
        meets(e);
        if (ran && !(e instanceof StoreOutcomeUnknown)) {
            throw new AssertionError("told that it did not run, but it did: " + key, e);
        }
    }

    /** What the request is for: makes its effect, unless something goes wrong. */
    String act(Machine machine, Claim claim) {
        if (world.hasOnly(Trouble.OUTAGES)) {
            String result = ledger.effect(claim, fingerprint, body);
            if (world.oneIn(2)) {
                outage.run();
            }
            return result;
        }
        if (world.oneIn(3)) {
            world.pass(world.upTo(Duration.ofSeconds(70)));
            machine.ensureAlive();
        }
        if (world.oneIn(20, Trouble.FAILURES)) {
            machine.crash("before the effect of " + key.value());
        } else if (world.oneIn(15)) {
            throw new NotExecuted("refused");
        } else if (world.oneIn(30)) {
            throw new Timeout();
        }
        claim.ensureHeld();
        String result = ledger.effect(claim, fingerprint, body);
        if (world.oneIn(4)) {
            world.pass(world.upTo(Duration.ofSeconds(70)));
            machine.ensureAlive();
        }
        if (world.oneIn(20, Trouble.FAILURES)) {
            machine.crash("after the effect of " + key.value());
        } else if (world.oneIn(20)) {
            throw new Timeout();
        }
        return result;
    }

    /** What an action throws when it does not know whether it had its effect. */
    private static final class Timeout extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1;

        Timeout() {
            super("no answer in time", null, false, false);
        }
    }
}
