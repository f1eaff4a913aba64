package dev.onlyonce.client;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Remembers calls until their answer is definitive, and their answers for a while longer. Every change is durable when the
 * method returns, and atomic: a process killed at any moment leaves it done or not done. Any thread may call, and several
 * processes may share one journal. Methods throw {@link JournalException} and do not react to interrupts.
 */
public interface Journal extends AutoCloseable {
    /** The most calls that may be open at once; one more is refused before anything is sent. */
    int OPEN_MAX = 10_000;

    /** What an answer proves. */
    enum Verdict {
        /** The call took effect. Replaces a refusal: whoever refused did not know. */
        DONE,
        /** The server looked the key up and refused. */
        REFUSED,
        /** Somebody refused who may not know the key. Proves nothing if the call was sent more than once. */
        REFUSED_UNPROVEN
    }

    /**
     * Records a call, unless there is one with its id.
     *
     * @return empty if it was recorded, or the call that is there
     */
    Optional<JournaledCall> begin(JournaledCall call);

    /**
     * Records that the call is about to be sent, by one sender more. The time of the first sending stays. A refused call loses its
     * answer and is open again, with this as its only sender; a call that is done stays as it is.
     *
     * @return the call after that, with its answer if it is done; empty if there is no such call
     */
    Optional<JournaledCall> sending(String id, Instant at);

    /** Records when the server forgets the key, as it said itself. Does nothing if there is no such call. */
    void expires(String id, Instant keyExpiresAt);

    /**
     * Records the answer, unless there is one that counts for more, or the verdict is {@link Verdict#REFUSED_UNPROVEN} and the call
     * was sent more than once.
     *
     * @return whether it was recorded
     */
    boolean settle(String id, CallResponse answer, Verdict verdict, Instant at);

    /** The call with this id, open or answered. */
    Optional<JournaledCall> find(String id);

    /** The ids of the calls that have no answer, oldest first, at most {@link #OPEN_MAX}. */
    List<String> pending();

    /** Removes a call. The next call with its id gets a new key. Returns whether there was one. */
    boolean forget(String id);

    /** Nothing is lost if it is not closed. */
    @Override
    void close();
}
