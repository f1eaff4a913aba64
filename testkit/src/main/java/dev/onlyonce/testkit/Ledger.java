package dev.onlyonce.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.onlyonce.Claim;
import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.State;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The outside world: every effect that ever happened, every answer that was ever given, and what must hold of them. */
final class Ledger {
    private static final String FOUND = "found ";

    private final World world;
    private final Witness store;
    /** Effects by entry: an entry that came after another's retention is another entry. */
    private final Map<String, List<String>> effects = new HashMap<>();

    private final Map<String, String> answers = new HashMap<>();

    Ledger(World world, Witness store) {
        this.world = world;
        this.store = store;
    }

    /** Makes the effect of a claim that says it is held, and returns its result. */
    String effect(Claim claim, Fingerprint fingerprint, String body) {
        Key key = claim.key();
        Entry entry = entry(key.entryId()).orElseThrow(() -> new AssertionError("an effect without an entry: " + key));
        require(entry.state() == State.PROCESSING, "an effect while the entry is " + entry.state(), key);
        require(entry.attempt() == claim.attempt(), "an effect of attempt " + claim.attempt() + " of " + entry, key);
        require(!entry.leaseLeft().isZero(), "an effect after the end of the lease", key);
        require(entry.fingerprint().equals(fingerprint), "an effect of another request than the entry's", key);
        String name = name(entry);
        List<String> made = effects.computeIfAbsent(name, n -> new ArrayList<>());
        String result = name + " attempt " + claim.attempt() + " of " + body;
        made.add(result);
        world.note("effect", result);
        require(
                made.size() == 1 || entry.terms().onLeaseLost() == OnLeaseLost.RETRY,
                "the effect happened " + made.size() + " times: " + made,
                key);
        return result;
    }

    private static String name(Entry entry) {
        return name(entry.id(), entry.createdAt());
    }

    static String name(EntryId id, Instant createdAt) {
        return id.key() + "@" + createdAt;
    }

    /** What a look at the outside world finds: the effect, if there is one, in other words than its maker's. */
    Optional<String> found(Entry unknown) {
        List<String> made = effects.getOrDefault(name(unknown), List.of());
        return made.isEmpty() ? Optional.empty() : Optional.of(FOUND + made.get(made.size() - 1));
    }

    /** A customer was answered; {@code asked} is when it had asked. */
    void answered(Key key, Fingerprint fingerprint, String body, Instant asked, Outcome<String> outcome) {
        if (outcome instanceof Outcome.Executed<String> executed) {
            value(key, body, executed.value());
            recorded(key, executed);
        } else if (outcome instanceof Outcome.Replayed<String> replayed) {
            value(key, body, replayed.value());
            require(replayed.expiresAt().isAfter(asked), "an answer after the end of its retention", key);
        } else if (outcome instanceof Outcome.Mismatched) {
            require(store.sawOther(key.entryId(), fingerprint), "a mismatch with no other request", key);
        } else if (outcome instanceof Outcome.Failed<String> failed) {
            throw new AssertionError("nothing fails for good here: " + failed + " for " + key);
        }
    }

    private void value(Key key, String body, String answer) {
        String value = answer.startsWith(FOUND) ? answer.substring(FOUND.length()) : answer;
        String name = value.substring(0, value.indexOf(' '));
        require(effects.getOrDefault(name, List.of()).contains(value), "an answer without an effect: " + value, key);
        require(name.startsWith(key.value() + "@"), "the answer to another key: " + value, key);
        require(value.endsWith(" of " + body), "the answer to another request: " + value, key);
        String first = answers.putIfAbsent(name, answer);
        require(first == null || first.equals(answer), "two different answers: " + first + " and " + answer, key);
    }

    /** No answer leaves before its record is there. */
    private void recorded(Key key, Outcome.Executed<String> executed) {
        String value = executed.value();
        boolean evicted = store.wasEvicted(value.substring(0, value.indexOf(' ')));
        if (!evicted && world.now().isBefore(executed.expiresAt())) {
            Entry entry = entry(key.entryId()).orElseThrow(() -> new AssertionError("answered without record: " + key));
            byte[] result = entry.result();
            require(
                    entry.state() == State.COMPLETED
                            && result != null
                            && new String(result, UTF_8).endsWith(executed.value()),
                    "answered " + executed.value() + ", recorded otherwise: " + entry,
                    key);
        }
    }

    private Optional<Entry> entry(EntryId id) {
        return store.find(List.of(id)).get(0);
    }

    private static void require(boolean holds, String what, Key key) {
        if (!holds) {
            throw new AssertionError(what + " (" + key.value() + ")");
        }
    }
}
