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

    /**
     * Records a call, unless there is one with its id.
     *
     * @return empty if it was recorded, or the call that is there
     */
    Optional<JournaledCall> begin(JournaledCall call);

    /** Records that the call is about to be sent. An answered call loses its answer and is open again. */
    void sending(String id, Instant at);

    /** Records when the server forgets the key, as it said itself. Does nothing if there is no such call. */
    void expires(String id, Instant keyExpiresAt);

    /** Records the definitive answer. Does nothing if there is one already, or no such call. */
    void settle(String id, CallResponse answer, Instant at);

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
