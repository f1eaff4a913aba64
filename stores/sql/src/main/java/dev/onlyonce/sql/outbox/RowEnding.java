package dev.onlyonce.sql.outbox;

import dev.onlyonce.sql.internal.entries.StoredEntry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Envelope;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.State;
import org.jspecify.annotations.Nullable;

/**
 * How a row and its entry end: the one place that decides it.
 *
 * @param to what the entry becomes; null if it stays as it is
 * @param updates whether the business data is updated
 */
record RowEnding(
        TakenRow taken,
        @Nullable State to,
        byte @Nullable [] result,
        String reason,
        OutboxTable.Fate fate,
        boolean updates) {

    EntryId id() {
        return taken.stored().entry();
    }

    /** The row was given back, and no call was made. */
    static RowEnding givenBack(TakenRow taken) {
        OutboxRow row = taken.stored().row();
        boolean claimed = isClaimed(taken);
        Long sentAt = claimed ? null : taken.stored().firstSentAt();
        OutboxTable.Fate now = new OutboxTable.Fate(0, row.tries(), sentAt, row.dead(), row.lastError());
        return new RowEnding(taken, claimed ? State.RETRYABLE : null, null, "given back before the call", now, false);
    }

    /** Somebody else has ended the entry during the call. Whoever takes the row next, and that at once, sees how. */
    static RowEnding overtaken(TakenRow taken) {
        OutboxRow row = taken.row();
        OutboxTable.Fate now = new OutboxTable.Fate(0, row.tries(), sentAt(taken), row.dead(), row.lastError());
        return new RowEnding(taken, null, null, "the entry was ended during the call", now, false);
    }

    /** Decides by the outcome of the call. */
    static RowEnding of(TakenRow taken, OutboxSettings settings) {
        if (taken.isGivenBack()) {
            return givenBack(taken);
        }
        Delivery delivery = taken.delivery();
        if (taken.entryState() == TakenRow.EntryState.ENDED) {
            return new RowEnding(taken, null, null, "answered elsewhere", OutboxTable.Fate.DELETED, true);
        }
        if (delivery instanceof Delivery.Delivered delivered) {
            return completed(taken, delivered.result(), "delivered", settings);
        }
        if (delivery instanceof Delivery.Refused refused) {
            return completed(taken, refused.result(), "refused by the provider", settings);
        }
        boolean claimed = isClaimed(taken);
        int tries = taken.row().tries();
        if (delivery instanceof Delivery.NotExecuted not && claimed) {
            if (tries >= settings.triesMax()) {
                byte[] failure = Envelope.failure(new Failure(Failure.DELIVERY_FAILED, not.why()));
                return new RowEnding(taken, State.FAILED, failure, not.why(), OutboxTable.Fate.DELETED, true);
            }
            OutboxTable.Fate later = new OutboxTable.Fate(settings.backoffUs(tries), tries, null, false, not.why());
            return new RowEnding(taken, State.RETRYABLE, null, not.why(), later, false);
        }
        // That this call did nothing says nothing about the one before it.
        String why = delivery instanceof Delivery.NotExecuted not ? not.why() : ((Delivery.Ambiguous) delivery).why();
        OutboxTable.Fate later = askLater(taken, tries, why, settings);
        return new RowEnding(taken, claimed ? State.UNKNOWN : null, null, why, later, false);
    }

    private static RowEnding completed(TakenRow taken, byte[] result, String reason, OutboxSettings settings) {
        int max = settings.policy(taken).resultBytesMax();
        byte[] envelope = result.length <= max
                ? Envelope.value(result)
                : Envelope.failure(new Failure(
                        Failure.RESULT_NOT_STORED,
                        "It completed, but its result was larger than " + max + " bytes and was not stored"));
        return new RowEnding(taken, State.COMPLETED, envelope, reason, OutboxTable.Fate.DELETED, true);
    }

    private static OutboxTable.Fate askLater(TakenRow taken, int tries, String why, OutboxSettings settings) {
        boolean asked = settings.canAsk(taken.stored(), tries);
        long delay = asked ? settings.backoffUs(tries) : StoredEntry.micros(settings.parkFor());
        return new OutboxTable.Fate(delay, tries, sentAt(taken), !asked, why);
    }

    private static Long sentAt(TakenRow taken) {
        Long before = isClaimed(taken) ? null : taken.stored().firstSentAt();
        return before == null ? Long.valueOf(taken.stored().takenAt()) : before;
    }

    /** This ending could not be committed. The answer is recorded; the rest is tried again later, without a call. */
    RowEnding later(String why, OutboxSettings settings) {
        if (!updates) {
            // No answer: it ends as it would have. Above all, an operation in doubt stays in doubt.
            OutboxTable.Fate same =
                    new OutboxTable.Fate(fate.delayUs(), fate.tries(), fate.firstSentAt(), fate.dead(), why);
            return new RowEnding(taken, to, null, "not recorded at first: " + why, same, false);
        }
        int tries = taken.row().tries();
        boolean executed = to == State.COMPLETED;
        State next = !isClaimed(taken) ? null : executed ? State.UNKNOWN : State.RETRYABLE;
        boolean dead = tries >= settings.triesMax();
        OutboxTable.Fate fate =
                new OutboxTable.Fate(settings.backoffUs(tries), tries, executed ? sentAt(taken) : null, dead, why);
        return new RowEnding(taken, next, null, "the business update failed: " + why, fate, false);
    }

    private static boolean isClaimed(TakenRow taken) {
        return taken.entryState() == TakenRow.EntryState.CLAIMED;
    }
}
