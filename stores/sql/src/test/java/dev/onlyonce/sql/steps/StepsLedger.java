package dev.onlyonce.sql.steps;

import dev.onlyonce.Key;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import java.io.Serial;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** The world outside a {@link StepsSimulation}: every effect that happened, every answer, and the rules for both. */
final class StepsLedger {
    private final Store store;
    /** By the name of the entry and the step. */
    private final Map<String, String> effects = new LinkedHashMap<>();

    private final Map<String, String> answers = new HashMap<>();
    /** The names of entries that had an effect, by key. */
    private final Map<String, List<String>> begun = new HashMap<>();

    private final Set<String> evicted = new HashSet<>();

    StepsLedger(Store store) {
        this.store = store;
    }

    Optional<Entry> entry(Key key) {
        return store.find(List.of(key.entryId())).get(0);
    }

    static String name(Entry entry) {
        return entry.id().key() + "@" + entry.createdAt();
    }

    /** An effect of the owner with this token happens now; returns its result. */
    String effect(Key key, UUID token, String step) {
        Entry entry = requireOwner(key, token, step);
        require(!entry.leaseLeft().isZero(), "D14 an effect after the end of the lease: " + step + " of " + key);
        String name = name(entry);
        List<String> earlier = begun.computeIfAbsent(key.value(), k -> new ArrayList<>());
        if (!earlier.contains(name)) {
            earlier.forEach(before -> require(
                    evicted.contains(before) || isAnswered(entry.id()),
                    "D8 " + before + " was half done, and is begun again as " + name));
            earlier.add(name);
        }
        String result = name + " " + step;
        require(effects.put(name + " " + step, result) == null, "D1 it happened twice: " + result);
        return result;
    }

    /** Only the owner of the entry takes a step. */
    Entry requireOwner(Key key, UUID token, String step) {
        Entry entry = entry(key).orElseThrow(() -> broken("D2 a step without an entry: " + key));
        require(entry.state() == State.PROCESSING, "D2 a step while the entry is " + entry.state() + ": " + step);
        require(token.equals(entry.token()), "D15 a step of an owner that was fenced out: " + step + " of " + key);
        return entry;
    }

    /** Whether the audit has an answer for an entry before the one that stands there. */
    private boolean isAnswered(EntryId id) {
        return store.history(id).stream()
                .map(AuditRecord::transition)
                .anyMatch(transition -> transition.to() == State.COMPLETED);
    }

    Optional<String> find(Entry unknown, String step) {
        return Optional.ofNullable(effects.get(name(unknown) + " " + step));
    }

    void evicted(Entry entry) {
        evicted.add(name(entry));
    }

    /** A client was answered with the results of all steps. */
    void answered(Key key, String answer) {
        String name = answer.substring(0, answer.indexOf(' '));
        require(name.startsWith(key.value() + "@"), "R1 the answer to another key: " + answer);
        for (String result : answer.split(", ", -1)) {
            require(result.startsWith(name) && effects.containsKey(result), "R1 without an effect: " + result);
        }
        String first = answers.putIfAbsent(name, answer);
        require(first == null || first.equals(answer), "R1 two answers: " + first + " and " + answer);
    }

    /** Every answered operation is booked once, and every booking is one of an owner that went on rightly. */
    void booked(Map<String, Integer> bookings) {
        bookings.forEach((name, count) -> require(count == 1, "D15 booked " + count + " times: " + name));
        answers.keySet().forEach(name -> require(bookings.containsKey(name), "D8 answered but not booked: " + name));
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw broken(what);
        }
    }

    private static Broken broken(String what) {
        return new Broken(what);
    }

    /** A rule is broken. */
    static final class Broken extends AssertionError {
        @Serial
        private static final long serialVersionUID = 1;

        Broken(String what) {
            super(what);
        }
    }
}
