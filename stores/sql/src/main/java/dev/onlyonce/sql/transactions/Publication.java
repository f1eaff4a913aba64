package dev.onlyonce.sql.transactions;

import dev.onlyonce.Event;
import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.Registry;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Transition;
import org.jspecify.annotations.Nullable;

/** Tells the listeners of requests that were executed in a transaction: the same events as in the leased way. */
record Publication(Registry registry) {
    /** Why entries are settled. */
    static final String COMPLETED = "completed in a transaction";

    /** A request was answered, and not executed. */
    void answered(Key key, Outcome<?> outcome) {
        registry.publish(new Event.Decided(key, Event.Decision.of(outcome)));
    }

    /** A request was claimed, executed and settled. */
    void executed(Key key, int attempt) {
        boolean first = attempt == 1;
        registry.publish(new Event.Decided(key, first ? Event.Decision.CREATED : Event.Decision.FAILED_RETRY));
        changed(key, attempt, first ? null : State.RETRYABLE, State.PROCESSING, "claimed");
        changed(key, attempt, State.PROCESSING, State.COMPLETED, COMPLETED);
    }

    private void changed(Key key, int attempt, @Nullable State from, State to, String why) {
        registry.publish(new Event.Changed(
                new Transition(key.entryId(), key.operation(), from, to, attempt, registry.name(), why)));
    }

    void took(Key key, Event.Took.Part part, long nanos) {
        registry.publish(new Event.Took(key.operation(), part, nanos));
    }
}
