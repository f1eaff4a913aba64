package dev.onlyonce.sql.outbox;

import java.time.Duration;
import java.util.UUID;

/**
 * A row that this node's worker has taken. It belongs to one thread at a time: the taker, a caller of the handler, the
 * finisher; only the end of its lease is shared.
 */
final class TakenRow {
    /** What has become of its entry. */
    enum EntryState {
        /** It is claimed with this row's token. */
        CLAIMED,
        /** It is unknown: a call may have had its effect. Only an answer ends it. */
        UNKNOWN,
        /** It has been answered elsewhere: by the reconciler, an operator, or the sweeper. */
        ENDED
    }

    private final StoredRow stored;
    private final UUID token;
    private final EntryState entryState;
    private final int attempt;
    private volatile long heldUntilNanos;
    private volatile long takenNanos;
    /** When it was taken, or its call began: a wait for a thread is no part of the call. */
    private volatile long heldSinceNanos;

    private volatile long askUntilNanos = Long.MAX_VALUE;
    private boolean called;
    private long calledNanos;
    private boolean givenBack;
    private Delivery delivery;

    /**
     * With the knowledge from before the call.
     *
     * @param attempt of the entry
     * @param delivery the recorded answer, or what the entry says; else anything
     */
    TakenRow(StoredRow stored, UUID token, EntryState entryState, int attempt, Delivery delivery) {
        this.stored = stored;
        this.token = token;
        this.entryState = entryState;
        this.attempt = attempt;
        this.delivery = delivery;
    }

    StoredRow stored() {
        return stored;
    }

    /** The row as the handler sees it: with this try counted. */
    OutboxRow row() {
        OutboxRow row = stored.row();
        return new OutboxRow(
                row.id(),
                row.key(),
                row.topic(),
                row.payload(),
                row.tries() + 1,
                row.acceptedAt(),
                row.firstSentAt(),
                row.providerId(),
                row.dead(),
                row.lastError(),
                row.orderKey());
    }

    String topic() {
        return stored.row().topic();
    }

    UUID token() {
        return token;
    }

    EntryState entryState() {
        return entryState;
    }

    int attempt() {
        return attempt;
    }

    /** Whether there is nothing left to ask the provider. */
    boolean isAnswered() {
        return entryState == EntryState.ENDED || stored.answer() != null;
    }

    /** When it was taken, at the latest. */
    void taken(long nanos) {
        takenNanos = nanos;
        heldSinceNanos = nanos;
    }

    long takenNanos() {
        return takenNanos;
    }

    /** The handler is about to be called. */
    void calling(long nanos) {
        heldSinceNanos = nanos;
    }

    /** The handler has answered this. */
    void called(Delivery answer, long nanos) {
        delivery = answer;
        calledNanos = nanos;
        called = true;
    }

    /** Whether the handler was called by this worker. */
    boolean isCalled() {
        return called;
    }

    /** When the handler had answered. */
    long calledNanos() {
        return calledNanos;
    }

    boolean isHeldFor(Duration span, long nanos) {
        return nanos - heldSinceNanos >= span.toNanos();
    }

    /** The provider does not honour the downstream key for long enough after this. */
    void askUntil(long nanos) {
        askUntilNanos = nanos;
    }

    /** Whether a call may begin: the row is held, and a key that may have been sent before is still honoured. */
    boolean mayCall(long nanos) {
        return isHeld(nanos) && (askUntilNanos == Long.MAX_VALUE || nanos - askUntilNanos < 0);
    }

    /** It is given back without a call. */
    void giveBack() {
        givenBack = true;
    }

    boolean isGivenBack() {
        return givenBack;
    }

    void heldUntil(long nanos) {
        heldUntilNanos = nanos;
    }

    boolean isHeld(long nanos) {
        return nanos - heldUntilNanos < 0;
    }

    Delivery delivery() {
        return delivery;
    }

    void delivery(Delivery delivery) {
        this.delivery = delivery;
    }
}
