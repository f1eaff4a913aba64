package dev.onlyonce.testkit;

import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;

/** How a call of a {@link FaultyStore} fails. */
public enum Fault {
    /** The call does nothing, and the caller learns so: {@link StoreUnavailable}. */
    BEFORE(false, false),
    /** Nothing is done, because somebody else holds a row: {@link StoreBusy}. */
    BUSY(false, false),
    /** Nothing is done, and never will be: {@link StoreRejected}. */
    REJECTED(false, false),
    /** Nothing is done, and the store's code breaks: an {@link Error}. */
    ERROR(false, false),
    /** It is done, and then the store's code breaks: an {@link Error}. */
    ERROR_AFTER(true, false),
    /** Nothing is done, but the caller cannot know: {@link StoreOutcomeUnknown}. */
    LOST(false, false),
    /** It is done, but the acknowledgement is lost: {@link StoreOutcomeUnknown}. */
    AFTER(true, false),
    /**
     * Every other item of the list is done, the first one too, but the caller cannot know: {@link StoreOutcomeUnknown}. A call
     * without a list is done.
     */
    PARTLY(true, false),
    /** The call hangs until released, and then nothing is done: {@link StoreUnavailable}. */
    HANGS_BEFORE(false, true),
    /** The call hangs until released; then it is done, and answered as if nothing had been wrong. */
    HANGS(true, true),
    /** It is done, and then the call hangs until released, when its acknowledgement is lost: {@link StoreOutcomeUnknown}. */
    HANGS_AFTER(true, true);

    private final boolean done;
    private final boolean hanging;

    Fault(boolean done, boolean hanging) {
        this.done = done;
        this.hanging = hanging;
    }

    /** Whether the call takes effect in spite of the fault, at least for its first item. */
    public boolean isDone() {
        return done;
    }

    /** Whether the call blocks until {@link FaultyStore#release}. */
    public boolean isHanging() {
        return hanging;
    }

    /** Whether the call does nothing, and the caller learns so. */
    public boolean isKnown() {
        return this == BEFORE || this == BUSY || this == REJECTED || this == HANGS_BEFORE;
    }

    /** Throws what the caller gets. */
    void raise(Verb verb, int call) {
        String what = "planted in call " + call + ", " + verb + ": " + this;
        switch (this) {
            case BEFORE, HANGS_BEFORE -> throw new StoreUnavailable(what, null);
            case BUSY -> throw new StoreBusy(what, null);
            case LOST, AFTER, PARTLY, HANGS_AFTER -> throw new StoreOutcomeUnknown(what, null);
            case REJECTED -> throw new StoreRejected(what, null);
            case ERROR, ERROR_AFTER -> throw new StackOverflowError(what);
            case HANGS -> {}
        }
    }
}
