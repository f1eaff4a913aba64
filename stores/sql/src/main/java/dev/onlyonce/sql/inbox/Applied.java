package dev.onlyonce.sql.inbox;

import dev.onlyonce.Outcome;

/** What became of a message in a batch. */
public sealed interface Applied {

    /** Its effect was made now, and is committed. */
    record Now() implements Applied {}

    /** It was applied before; its effect did not run. */
    record Before() implements Applied {}

    /** A message with this id and other content was applied before; its effect did not run. */
    record Mismatched() implements Applied {}

    /**
     * Its effect failed and was undone, and nothing of it is remembered; or there is an entry of its id that cannot be used, and its effect
     * did not run.
     *
     * @param cause what the effect threw, or what is wrong with the entry
     */
    record Failed(Exception cause) implements Applied {}

    /**
     * It was not applied, because a message before it with the same order was not, because somebody else is just applying it, or because
     * that is so for several before it. Try it again later, best without those.
     */
    record Held() implements Applied {}

    /** The answer for a message that has an entry, which was not executed now. */
    static Applied of(Outcome<?> outcome) {
        if (outcome instanceof Outcome.InFlight) {
            return new Held();
        }
        if (outcome instanceof Outcome.Mismatched<?> other) {
            if (other.reason() == Outcome.Mismatched.Reason.REQUEST) {
                return new Mismatched();
            }
        } else if (!(outcome instanceof Outcome.Unknown)) {
            return new Before();
        }
        return new Failed(new IllegalStateException(
                "the id was used by something else: no operation may have the name of the inbox, " + Inbox.OPERATION));
    }
}
