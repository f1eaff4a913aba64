package dev.onlyonce.sql.outbox;

import dev.onlyonce.Event;
import dev.onlyonce.sql.connections.SqlFailure;
import dev.onlyonce.sql.entries.StoredEntry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Envelope;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Transition;
import java.io.Serial;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends rows whose call has come back.
 *
 * <ol>
 *   <li>Providers' answers are recorded on their rows, and that is committed: whatever happens from here on, nobody has to
 *       ask again.
 *   <li>One transaction for many rows ends or puts off the rows, updates the business data and settles the entries. The
 *       rows come first: they are fenced by their token, and SQLite gets its write lock.
 *   <li>If that fails, whatever the reason, each row gets a transaction of its own, so that it fails alone. A row that the
 *       database refuses, or whose business update fails or waits for a lock, is put off; its answer is kept.
 * </ol>
 *
 * <p>All of it can be repeated: a row that was finished is not held any more.
 */
final class RowFinisher {
    /** So many rows one after the other that cannot even be put off mean that it is the database, and not the rows. */
    private static final int FAILURES_MAX = 2;

    /** After so many locked rows the others of a batch are not kept waiting by more. */
    private static final int WAITS_MAX = 3;

    private static final int ALIVE_SECONDS = 5;
    private static final Logger log = LoggerFactory.getLogger(RowFinisher.class);

    private final OutboxContext parts;

    RowFinisher(OutboxContext parts) {
        this.parts = parts;
    }

    /**
     * How a row and its entry end.
     *
     * @param to what the entry becomes; empty if it stays as it is
     * @param told whether the business data is updated
     */
    private record Ending(
            TakenRow held,
            @Nullable State to,
            byte @Nullable [] result,
            String reason,
            OutboxTable.Fate fate,
            boolean told) {

        EntryId id() {
            return held.stored().entry();
        }
    }

    /** Rows that could not be ended because the database cannot now. */
    record Unfinished(List<TakenRow> rows, StoreException cause) {}

    /** Ends them all, but for those that it returns: they can be ended later, while they are held. */
    Optional<Unfinished> finish(List<TakenRow> batch) {
        Work work = new Work();
        try {
            List<TakenRow> mine = record(batch, work);
            end(mine.stream().map(this::ending).toList(), work);
        } finally {
            work.restoreInterrupt();
        }
        return work.unfinished();
    }

    /** What has failed so far. An interrupt, the caller's or a handler's, is put aside until the other rows are done. */
    private static final class Work {
        private final List<TakenRow> rows = new ArrayList<>();
        private @Nullable StoreException cause;
        private int failures;
        private int waits;
        private boolean interrupted = Thread.interrupted();

        void putInterruptAside() {
            interrupted |= Thread.interrupted();
        }

        void restoreInterrupt() {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }

        void failed(TakenRow held, StoreException e) {
            rows.add(held);
            cause = e;
            failures++;
        }

        /** The row or its entry is locked, which says nothing about the others. */
        void locked(TakenRow held, StoreBusy e) {
            waited();
            rows.add(held);
            cause = e;
        }

        void done() {
            failures = 0;
        }

        /** A commit has waited for a lock, for as long as it may. */
        void waited() {
            waits++;
        }

        boolean isPatient() {
            return waits < WAITS_MAX;
        }

        boolean isHopeless() {
            return failures >= FAILURES_MAX;
        }

        Optional<Unfinished> unfinished() {
            return cause == null ? Optional.empty() : Optional.of(new Unfinished(rows, cause));
        }
    }

    /** Gives back rows for which no call was made. */
    void release(List<TakenRow> batch) {
        List<Ending> endings = batch.stream().map(RowFinisher::givenBack).toList();
        Work work = new Work();
        try {
            end(endings, work);
        } finally {
            work.restoreInterrupt();
        }
        work.unfinished().ifPresent(unfinished -> {
            throw unfinished.cause;
        });
    }

    private static Ending givenBack(TakenRow held) {
        OutboxRow row = held.stored().row();
        boolean claimed = held.hold() == TakenRow.Hold.CLAIMED;
        Long sentAt = claimed ? null : held.stored().firstSentAt();
        OutboxTable.Fate now = new OutboxTable.Fate(0, row.tries(), sentAt, row.dead(), row.lastError());
        return new Ending(held, claimed ? State.RETRYABLE : null, null, "given back before the call", now, false);
    }

    /** An answer that was found elsewhere too: if the business update fails, the entry may expire before it succeeds. */
    private List<TakenRow> record(List<TakenRow> batch, Work work) {
        List<TakenRow> answers = batch.stream()
                .filter(h -> h.stored().answer() == null
                        && (h.delivery() instanceof Delivery.Delivered || h.delivery() instanceof Delivery.Refused))
                .toList();
        if (answers.isEmpty()) {
            return batch;
        }
        List<TakenRow> mine = new ArrayList<>(batch);
        if (answers.size() > 1) {
            try {
                mine.removeAll(recorded(answers, work));
                return mine;
            } catch (StoreException e) {
                log.debug("One of {} answers cannot be recorded with the others", answers.size(), e);
            }
        }
        for (TakenRow held : answers) {
            recordAlone(held, mine, work);
        }
        return mine;
    }

    private void recordAlone(TakenRow held, List<TakenRow> mine, Work work) {
        if (work.isHopeless()) {
            mine.remove(held);
            work.rows.add(held);
            return;
        }
        try {
            mine.removeAll(recorded(List.of(held), work));
            work.done();
        } catch (StoreRejected e) {
            // What it says is lost, and nobody may take it for done or for not done.
            log.error("The provider's answer cannot be recorded: {}", held.row(), e);
            if (held.hold() == TakenRow.Hold.ENDED) {
                return; // Its entry has it.
            }
            held.delivery(new Delivery.Ambiguous("the provider's answer cannot be recorded: " + e.getCause()));
        } catch (StoreBusy e) {
            mine.remove(held);
            work.locked(held, e);
        } catch (StoreException e) {
            mine.remove(held);
            work.failed(held, e);
        }
    }

    /** Records answers; returns those whose row is lost. */
    private List<TakenRow> recorded(List<TakenRow> answers, Work work) {
        List<Boolean> recorded = parts.calls()
                .transaction(transaction -> parts.table()
                        .bounded(
                                transaction,
                                work.isPatient(),
                                c -> parts.table().record(c, answers)));
        List<TakenRow> lost = new ArrayList<>();
        for (int i = 0; i < answers.size(); i++) {
            if (!recorded.get(i)) {
                lost.add(answers.get(i));
                lost(answers.get(i));
            }
        }
        return lost;
    }

    private void end(List<Ending> endings, Work work) {
        if (endings.size() > 1 && !work.isHopeless()) {
            try {
                commit(endings, work);
                return;
            } catch (ItsOwnFault | StoreException e) {
                log.debug("{} rows cannot be finished together", endings.size(), e);
            }
        }
        for (Ending ending : endings) {
            if (work.isHopeless()) {
                work.rows.add(ending.held);
            } else {
                endAlone(ending, work);
            }
        }
    }

    private void endAlone(Ending ending, Work work) {
        try {
            commit(List.of(ending), work);
            work.done();
        } catch (Lost e) {
            lost(ending.held);
        } catch (UpdateFailed e) {
            putOff(ending, String.valueOf(e.getCause()), e, work);
        } catch (StoreBusy e) {
            work.waited();
            putOff(ending, e.getMessage() + ": " + e.getCause(), e, work);
        } catch (StoreRejected e) {
            putOff(ending, e.getMessage() + ": " + e.getCause(), e, work);
        } catch (StoreUnavailable e) {
            if (ending.told && isReported(e)) {
                // Perhaps by the update, which may even have swallowed it. If it is the database, this fails too.
                putOff(ending, String.valueOf(e.getCause()), e, work);
            } else {
                work.failed(ending.held, e);
            }
        } catch (StoreException e) {
            work.failed(ending.held, e);
        }
    }

    /** Whether the database itself has said so, on a connection that works. */
    private boolean isReported(StoreException e) {
        return e.getCause() instanceof SQLException sql
                && SqlFailure.of(parts.database().kind(), sql) == SqlFailure.UNAVAILABLE;
    }

    private void putOff(Ending ending, String why, RuntimeException cause, Work work) {
        log.warn("Not finished, and tried again later: {}", ending.held.row(), cause);
        try {
            commit(List.of(updateLater(ending, why)), work);
            work.done();
        } catch (Lost e) {
            lost(ending.held);
        } catch (StoreBusy e) {
            work.locked(ending.held, e);
        } catch (StoreException e) {
            work.failed(ending.held, e);
        }
    }

    private void lost(TakenRow held) {
        log.warn("Lost to another worker, which goes on with it: {}", held.row());
        parts.tell(new Event.ClaimLost(held.stored().row().key(), held.attempt()));
    }

    /** Something about one row that must not keep the others. */
    private abstract static class ItsOwnFault extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1;

        ItsOwnFault(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    private static final class Lost extends ItsOwnFault {
        @Serial
        private static final long serialVersionUID = 1;

        Lost() {
            super("the row or the claim is not ours any more", null);
        }
    }

    private static final class UpdateFailed extends ItsOwnFault {
        @Serial
        private static final long serialVersionUID = 1;

        UpdateFailed(Throwable cause) {
            super("the business update failed", cause);
        }
    }

    private void commit(List<Ending> endings, Work work) {
        List<Ending> sorted =
                endings.stream().sorted(Comparator.comparing(Ending::id)).toList();
        parts.calls()
                .transaction(transaction -> parts.table().bounded(transaction, work.isPatient(), c -> {
                    List<OutboxTable.End> rows = sorted.stream()
                            .map(e -> new OutboxTable.End(e.held, e.fate))
                            .toList();
                    if (!parts.table().end(c, rows)) {
                        throw new Lost();
                    }
                    for (Ending ending : sorted) {
                        if (ending.told) {
                            update(c, ending, work);
                        }
                    }
                    return settle(c, sorted);
                }));
        endings.forEach(this::tell);
    }

    private void update(Connection connection, Ending ending, Work work) throws SQLException {
        try {
            parts.settings().handler(ending.held).settled(connection, ending.held.row(), ending.held.delivery());
        } catch (SQLException e) {
            SqlFailure failure = SqlFailure.of(parts.database().kind(), e);
            if (failure.isWait()) {
                work.waited();
            }
            if (failure == SqlFailure.CONFLICT || !connection.isValid(ALIVE_SECONDS)) {
                // The transaction's trouble, not this row's.
                throw e;
            }
            throw new UpdateFailed(e);
        } catch (Throwable e) {
            throw new UpdateFailed(e);
        } finally {
            work.putInterruptAside();
        }
    }

    @SuppressWarnings("NullAway") // It does not see in class files that the results may be null.
    private int settle(Connection connection, List<Ending> sorted) throws SQLException {
        List<Settlement> settlements = new ArrayList<>();
        List<Resolution> resolutions = new ArrayList<>();
        for (Ending ending : sorted) {
            TakenRow held = ending.held;
            if (ending.to != null && held.hold() == TakenRow.Hold.CLAIMED) {
                settlements.add(Settlement.of(
                        ending.id(), held.token(), ending.to, Optional.ofNullable(ending.result), ending.reason));
            } else if (ending.to != null) {
                resolutions.add(Resolution.of(
                                ending.id(),
                                held.attempt(),
                                ending.to,
                                Optional.ofNullable(ending.result),
                                parts.settings().name(),
                                ending.reason)
                        .about(StoredEntry.instant(held.stored().entryAt())));
            }
        }
        int expected = settlements.size() + resolutions.size();
        if (expected > 0
                && parts.database()
                                .inside()
                                .end(
                                        connection,
                                        parts.sealing().seal(settlements),
                                        parts.sealing().sealAll(resolutions))
                                .size()
                        < expected) {
            throw new Lost();
        }
        return expected;
    }

    private Ending ending(TakenRow held) {
        if (held.isGivenBack()) {
            return givenBack(held);
        }
        Delivery delivery = held.delivery();
        if (held.hold() == TakenRow.Hold.ENDED) {
            return new Ending(held, null, null, "answered elsewhere", OutboxTable.Fate.DELETED, true);
        }
        if (delivery instanceof Delivery.Delivered delivered) {
            return completed(held, delivered.result(), "delivered");
        }
        if (delivery instanceof Delivery.Refused refused) {
            return completed(held, refused.result(), "refused by the provider");
        }
        boolean claimed = held.hold() == TakenRow.Hold.CLAIMED;
        int tries = held.row().tries();
        if (delivery instanceof Delivery.NotExecuted not && claimed) {
            if (tries >= parts.settings().triesMax()) {
                byte[] failure = Envelope.failure(new Failure(Failure.DELIVERY_FAILED, not.why()));
                return new Ending(held, State.FAILED, failure, not.why(), OutboxTable.Fate.DELETED, true);
            }
            OutboxTable.Fate later =
                    new OutboxTable.Fate(parts.settings().backoffUs(tries), tries, null, false, not.why());
            return new Ending(held, State.RETRYABLE, null, not.why(), later, false);
        }
        // That this call did nothing says nothing about the one before it.
        String why = delivery instanceof Delivery.NotExecuted not ? not.why() : ((Delivery.Ambiguous) delivery).why();
        return new Ending(held, claimed ? State.UNKNOWN : null, null, why, askLater(held, tries, why), false);
    }

    private Ending completed(TakenRow held, byte[] result, String reason) {
        int max = parts.settings().resultBytesMax();
        byte[] envelope = result.length <= max
                ? Envelope.value(result)
                : Envelope.failure(new Failure(
                        Failure.RESULT_NOT_STORED,
                        "It completed, but its result was larger than " + max + " bytes and was not stored"));
        return new Ending(held, State.COMPLETED, envelope, reason, OutboxTable.Fate.DELETED, true);
    }

    private OutboxTable.Fate askLater(TakenRow held, int tries, String why) {
        boolean asked = parts.settings().canAsk(held.stored(), tries);
        long delay = asked
                ? parts.settings().backoffUs(tries)
                : StoredEntry.micros(parts.settings().parkFor());
        return new OutboxTable.Fate(delay, tries, sentAt(held), !asked, why);
    }

    private static Long sentAt(TakenRow held) {
        Long before =
                held.hold() == TakenRow.Hold.CLAIMED ? null : held.stored().firstSentAt();
        return before == null ? Long.valueOf(held.stored().takenAt()) : before;
    }

    /** The answer is recorded; what is left is tried again, without a call. Until then clients are told the truth. */
    private Ending updateLater(Ending ending, String why) {
        TakenRow held = ending.held;
        if (!ending.told) {
            // No answer: it ends as it would have. Above all, what is in doubt stays in doubt.
            OutboxTable.Fate fate = ending.fate;
            OutboxTable.Fate same =
                    new OutboxTable.Fate(fate.delayUs(), fate.tries(), fate.firstSentAt(), fate.dead(), why);
            return new Ending(held, ending.to, null, "not recorded at first: " + why, same, false);
        }
        int tries = held.row().tries();
        boolean executed = ending.to == State.COMPLETED;
        State to = held.hold() != TakenRow.Hold.CLAIMED ? null : executed ? State.UNKNOWN : State.RETRYABLE;
        boolean dead = tries >= parts.settings().triesMax();
        OutboxTable.Fate later = new OutboxTable.Fate(
                parts.settings().backoffUs(tries), tries, executed ? sentAt(held) : null, dead, why);
        return new Ending(held, to, null, "the business update failed: " + why, later, false);
    }

    private void tell(Ending ending) {
        TakenRow held = ending.held;
        String operation = held.stored().row().key().operation();
        if (ending.to != null) {
            State from = held.hold() == TakenRow.Hold.CLAIMED ? State.PROCESSING : State.UNKNOWN;
            parts.tell(new Event.Changed(new Transition(
                    ending.id(),
                    operation,
                    from,
                    ending.to,
                    held.attempt(),
                    parts.settings().name(),
                    ending.reason)));
        }
        Event.Delivery.Fate progress = ending.fate.dead() || ending.to == State.FAILED
                ? Event.Delivery.Fate.DEAD
                : ending.fate.isDeleted() ? Event.Delivery.Fate.DELIVERED : Event.Delivery.Fate.RETRIED;
        if (progress == Event.Delivery.Fate.DEAD) {
            log.warn("Dead letter: {}: {}", held.row(), ending.reason);
        }
        parts.tell(new Event.Delivery(ending.id(), operation, progress));
        if (ending.fate.isDeleted()) {
            parts.waiters().ended(ending.id());
        }
    }
}
