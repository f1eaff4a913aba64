package dev.onlyonce.check;

import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Counts the effects from its creation on: by the API's counter, or by how many different answers it gave. */
final class Tally {
    /** Effects may become visible a little after their answers. */
    private static final Duration LATE_MAX = Duration.ofSeconds(1);

    /** Between two looks at the counter. */
    static final Duration PAUSE = Duration.ofMillis(20);

    private final Session session;
    private final boolean known;
    private final long before;

    Tally(Session session, boolean known, long before) {
        this.session = session;
        this.known = known;
        this.before = before;
    }

    /** How many effects these requests had, where this many are expected; empty if nobody can tell. */
    OptionalLong effects(long expected, List<RoundTrip> trips) throws CannotCheck {
        if (session.plan().counter() == null) {
            return known
                    ? OptionalLong.of(trips.stream()
                            .filter(RoundTrip::isSuccess)
                            .map(RoundTrip::identity)
                            .distinct()
                            .count())
                    : OptionalLong.empty();
        }
        Duration patience = session.lag().multipliedBy(3).plus(LATE_MAX);
        session.awaitCount(before + expected, patience);
        // A second effect would be seen as late as the first.
        session.awaitLateEffects();
        long effects = session.count() - before;
        return OptionalLong.of(effects);
    }

    /** Whether these requests had another number of effects than expected, as far as anybody can tell. */
    boolean isNot(long expected, List<RoundTrip> trips) throws CannotCheck {
        OptionalLong effects = effects(expected, trips);
        return effects.isPresent() && effects.getAsLong() != expected;
    }

    /** Why the second request did not count as a retry of the first; null if it did. */
    @Nullable
    String difference(RoundTrip first, RoundTrip second) throws CannotCheck {
        List<RoundTrip> trips = List.of(first, second);
        if (!first.isSuccess()) {
            return "the first request got " + first.brief();
        }
        if (isNot(1, trips)) {
            return said(1, trips) + ": the second request ran as a new one";
        }
        return second.sameEffect(first) ? null : "the second request got " + second.brief();
    }

    /** For the detail of a failure. */
    String said(long expected, List<RoundTrip> trips) throws CannotCheck {
        OptionalLong effects = effects(expected, trips);
        return effects.isEmpty()
                ? "effects unknown"
                : effects.getAsLong() + (effects.getAsLong() == 1 ? " effect" : " effects");
    }
}
