package dev.onlyonce.testkit;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The way from one machine to the store: calls and answers are lost, late, or cut short by the machine's end. */
final class Wire extends ForwardingStore {
    private static final int MANY = 1000;

    private final World world;
    private final Machine machine;
    /** Calls under way from callers that wait for each other. */
    private int calls;

    Wire(World world, Machine machine, Store store) {
        super(store);
        this.world = world;
        this.machine = machine;
    }

    @Override
    <T> T around(Verb verb, Object asked, Supplier<T> call) {
        machine.ensureAlive();
        if (Thread.currentThread().isInterrupted()) {
            // As pools and drivers do.
            throw new StoreUnavailable("interrupted while waiting for a connection", null);
        }
        if (world.isHealed()) {
            return call.get();
        }
        String what = verb + " " + names(asked);
        Random chance = world.chance(machine.name() + " " + what);
        if (machine.isCutOff()) {
            note(what, "cut off");
            throw chance.nextInt(4) == 0 ? unknown("cut off") : new StoreUnavailable("cut off", null);
        }
        calls++;
        try {
            return attempt(verb, asked, chance, call);
        } finally {
            calls--;
        }
    }

    private <T> T attempt(Verb verb, Object asked, Random chance, Supplier<T> call) {
        String what = verb + " " + names(asked);
        boolean grouped = verb == Verb.CLAIM || verb == Verb.SETTLE || verb == Verb.FIND;
        // Background work is most of the calls, and its faults are the least interesting ones.
        int dice = chance.nextInt(grouped ? MANY : 4 * MANY);
        if (world.has(Trouble.ERRORS) && dice >= 215 && dice < 245) {
            note(what, "breaks");
            if (chance.nextBoolean()) {
                var unused = call.get();
            }
            throw new StackOverflowError("planted");
        }
        if (!world.has(Trouble.FAILURES)) {
            return call.get();
        }
        if (dice < 40) {
            note(what, "unavailable");
            throw new StoreUnavailable("planted", null);
        } else if (dice < 60) {
            note(what, "never arrives");
            throw unknown("the call was lost");
        } else if (dice < 90
                && call instanceof ItemsCall<?, ?> items
                && items.asked().size() > 1) {
            part(what, items, chance);
            throw unknown("some of the answers were lost");
        } else if (dice < 90) {
            note(what, "is done, but the answer is lost");
            var unused = call.get();
            throw unknown("the answer was lost");
        } else if (dice < 110) {
            note(what, "busy");
            throw new StoreBusy("planted", null);
        } else if (dice < 130 || (verb == Verb.RESOLVE && dice < MANY)) {
            note(what, "arrives late");
            world.after(delay(chance), () -> late(what, call));
            throw unknown("the call is late");
        } else if (dice < 145) {
            machine.crash("before " + what);
        } else if (dice < 165) {
            var unused = call.get();
            machine.crash("after " + what);
        } else if (dice < 215) {
            return slow(what, grouped && names(asked).size() == 1, chance, call);
        }
        machine.ensureAlive();
        return call.get();
    }

    /** Some items are done, others arrive late or never. */
    private void part(String what, ItemsCall<?, ?> items, Random chance) {
        Set<String> done = names(items.asked()).stream()
                .filter(name -> chance.nextBoolean())
                .collect(Collectors.toSet());
        note(what, "is done in part: " + done.size());
        var unused = items.only(i -> done.contains(name(items.asked().get(i)))).get();
        if (chance.nextBoolean()) {
            world.after(
                    delay(chance),
                    () -> late(
                            what,
                            items.only(i -> !done.contains(name(items.asked().get(i))))));
        }
    }

    private void late(String what, Supplier<?> call) {
        note(what, "arrives now");
        try {
            var unused = call.get();
        } catch (StoreBusy e) {
            note(what, "finds the row locked");
        }
    }

    private <T> T slow(String what, boolean grouped, Random chance, Supplier<T> call) {
        // The engine lets two calls of a node go at once, and has callers gather while one carries several; others
        // would wait
        // for them on this same thread.
        boolean mayWait = grouped && calls == 1;
        boolean onTheWay = chance.nextBoolean();
        if (mayWait && onTheWay) {
            note(what, "is slow on its way");
            world.pass(delay(chance));
        }
        T answer = call.get();
        if (mayWait && !onTheWay) {
            note(what, "is done, the answer is slow");
            world.pass(delay(chance));
        }
        machine.ensureAlive();
        return answer;
    }

    private static Duration delay(Random chance) {
        return Duration.ofMillis(chance.nextInt(chance.nextInt(4) == 0 ? 90_000 : 5_000));
    }

    private static StoreOutcomeUnknown unknown(String why) {
        return new StoreOutcomeUnknown(why, null);
    }

    private void note(String what, String fault) {
        world.note(machine.name(), what + " " + fault);
    }

    /** The keys that a call is about, in their order. */
    static List<String> names(Object asked) {
        Stream<?> parts = asked instanceof Collection<?> list ? list.stream() : Stream.of(asked);
        return parts.map(Wire::name).sorted().toList();
    }

    private static String name(Object part) {
        if (part instanceof ClaimRequest claim) {
            return "claim " + claim.id().key();
        } else if (part instanceof Settlement settlement) {
            return "settle " + settlement.id().key() + " " + settlement.to();
        } else if (part instanceof Renewal renewal) {
            return renewal.id().key();
        } else if (part instanceof Resolution resolution) {
            return resolution.id().key() + " " + resolution.to();
        }
        return part instanceof EntryId id ? id.key() : "";
    }
}
