package dev.onlyonce.sql.outbox;

import dev.onlyonce.Event;
import dev.onlyonce.sql.internal.connections.SqlFailure;
import dev.onlyonce.sql.internal.entries.StoredEntry;
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
import java.util.stream.Stream;
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
 * <p>All of it can be repeated: a row that was finished is not held any more. After the commit, the rows behind those that have ended
 * are made due.
 */
final class RowFinisher {
    private static final int ALIVE_SECONDS = 5;
    private static final Logger log = LoggerFactory.getLogger(RowFinisher.class);

    private final OutboxContext context;
    private final NextInLine nextInLine;

    RowFinisher(OutboxContext context) {
        this.context = context;
        this.nextInLine = new NextInLine(context);
    }

    /** Ends all rows except those that it returns: they can be ended later, while they are held. */
    Optional<FinishRound.Unfinished> finish(List<TakenRow> batch) {
        FinishRound round = new FinishRound();
        try {
            List<TakenRow> mine = record(batch, round);
            end(mine.stream().map(row -> RowEnding.of(row, context.settings())).toList(), round);
        } finally {
            round.restoreInterrupt();
        }
        return round.unfinished();
    }

    /** Gives back rows for which no call was made. */
    void release(List<TakenRow> batch) {
        List<RowEnding> endings = batch.stream().map(RowEnding::givenBack).toList();
        FinishRound round = new FinishRound();
        try {
            end(endings, round);
        } finally {
            round.restoreInterrupt();
        }
        round.unfinished().ifPresent(unfinished -> {
            throw unfinished.cause();
        });
    }

    /** An answer that was found elsewhere too: if the business update fails, the entry may expire before it succeeds. */
    private List<TakenRow> record(List<TakenRow> batch, FinishRound round) {
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
                mine.removeAll(recorded(answers, round));
                return mine;
            } catch (StoreException e) {
                log.debug("One of {} answers cannot be recorded with the others", answers.size(), e);
            }
        }
        for (TakenRow held : answers) {
            recordAlone(held, mine, round);
        }
        return mine;
    }

    private void recordAlone(TakenRow held, List<TakenRow> mine, FinishRound round) {
        if (round.isHopeless()) {
            mine.remove(held);
            round.left(held);
            return;
        }
        try {
            mine.removeAll(recorded(List.of(held), round));
            round.done();
        } catch (StoreRejected e) {
            // What it says is lost, and nobody may take it for done or for not done.
            log.error("The provider's answer cannot be recorded: {}", held.row(), e);
            if (held.entryState() == TakenRow.EntryState.ENDED) {
                return; // Its entry has it.
            }
            held.delivery(new Delivery.Ambiguous("the provider's answer cannot be recorded: " + e.getCause()));
        } catch (StoreBusy e) {
            mine.remove(held);
            round.locked(held, e);
        } catch (StoreException e) {
            mine.remove(held);
            round.failed(held, e);
        }
    }

    /** Records answers; returns those whose row is lost. */
    private List<TakenRow> recorded(List<TakenRow> answers, FinishRound round) {
        List<Boolean> recorded = context.connections()
                .transaction(transaction -> context.bounds()
                        .run(
                                transaction,
                                round.isPatient(),
                                c -> context.table().record(c, answers)));
        List<TakenRow> lost = new ArrayList<>();
        for (int i = 0; i < answers.size(); i++) {
            if (!recorded.get(i)) {
                lost.add(answers.get(i));
                lost(answers.get(i));
            }
        }
        return lost;
    }

    private void end(List<RowEnding> endings, FinishRound round) {
        if (endings.size() > 1 && !round.isHopeless()) {
            try {
                commit(endings, round);
                return;
            } catch (ItsOwnFault | StoreException e) {
                log.debug("{} rows cannot be finished together", endings.size(), e);
            }
        }
        for (RowEnding ending : endings) {
            if (round.isHopeless()) {
                round.left(ending.taken());
            } else {
                endAlone(ending, round);
            }
        }
    }

    private void endAlone(RowEnding ending, FinishRound round) {
        try {
            commit(List.of(ending), round);
            round.done();
        } catch (Lost e) {
            giveBackOrLose(ending.taken(), round);
        } catch (UpdateFailed e) {
            putOff(ending, String.valueOf(e.getCause()), e, round);
        } catch (StoreBusy e) {
            round.waited();
            putOff(ending, e.getMessage() + ": " + e.getCause(), e, round);
        } catch (StoreRejected e) {
            putOff(ending, e.getMessage() + ": " + e.getCause(), e, round);
        } catch (StoreUnavailable e) {
            if (ending.updates() && isReported(e)) {
                // Perhaps by the update, which may even have swallowed it. If it is the database, this fails too.
                putOff(ending, String.valueOf(e.getCause()), e, round);
            } else {
                round.failed(ending.taken(), e);
            }
        } catch (StoreException e) {
            round.failed(ending.taken(), e);
        }
    }

    /** Whether the database itself has said so, on a connection that works. */
    private boolean isReported(StoreException e) {
        return e.getCause() instanceof SQLException sql
                && SqlFailure.of(context.database().kind(), sql) == SqlFailure.UNAVAILABLE;
    }

    private void putOff(RowEnding ending, String why, RuntimeException cause, FinishRound round) {
        log.warn("Not finished, and tried again later: {}", ending.taken().row(), cause);
        try {
            commit(List.of(ending.later(why, context.settings())), round);
            round.done();
        } catch (Lost e) {
            lost(ending.taken());
        } catch (StoreBusy e) {
            round.locked(ending.taken(), e);
        } catch (StoreException e) {
            round.failed(ending.taken(), e);
        }
    }

    /** If only the entry was lost, to the reconciler say, the business update need not wait until the lease of the row is over. */
    private void giveBackOrLose(TakenRow held, FinishRound round) {
        try {
            commit(List.of(RowEnding.overtaken(held)), round);
            round.done();
            log.debug("The entry was ended during the call, and the row is taken again: {}", held.row());
        } catch (Lost e) {
            lost(held);
        } catch (StoreBusy e) {
            round.locked(held, e);
        } catch (StoreException e) {
            round.failed(held, e);
        }
    }

    private void lost(TakenRow held) {
        log.warn("Lost to another worker, which goes on with it: {}", held.row());
        // Or it was we who ended it, and the acknowledgement got lost.
        nextInLine.call(DeliveryOrder.of(Stream.of(held.stored().row())));
        context.publish(new Event.ClaimLost(held.stored().row().key(), held.attempt()));
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

    private void commit(List<RowEnding> endings, FinishRound round) {
        List<RowEnding> sorted =
                endings.stream().sorted(Comparator.comparing(RowEnding::id)).toList();
        context.connections()
                .transaction(transaction -> context.bounds().run(transaction, round.isPatient(), c -> {
                    List<OutboxTable.End> rows = sorted.stream()
                            .map(e -> new OutboxTable.End(e.taken(), e.fate()))
                            .toList();
                    if (!context.table().end(c, rows)) {
                        throw new Lost();
                    }
                    for (RowEnding ending : sorted) {
                        if (ending.updates()) {
                            update(c, ending, round);
                        }
                    }
                    return settle(c, sorted);
                }));
        nextInLine.call(DeliveryOrder.of(endings.stream()
                .filter(ending -> ending.fate().isDeleted())
                .map(ending -> ending.taken().stored().row())));
        endings.forEach(this::publish);
    }

    private void update(Connection connection, RowEnding ending, FinishRound round) throws SQLException {
        try {
            context.settings()
                    .handler(ending.taken())
                    .settled(connection, ending.taken().row(), ending.taken().delivery());
        } catch (SQLException e) {
            SqlFailure failure = SqlFailure.of(context.database().kind(), e);
            if (failure.isWait()) {
                round.waited();
            }
            if (failure == SqlFailure.CONFLICT || !connection.isValid(ALIVE_SECONDS)) {
                // The transaction's trouble, not this row's.
                throw e;
            }
            throw new UpdateFailed(e);
        } catch (Throwable e) {
            throw new UpdateFailed(e);
        } finally {
            round.putInterruptAside();
        }
    }

    @SuppressWarnings("NullAway") // It does not see in class files that the results may be null.
    private int settle(Connection connection, List<RowEnding> sorted) throws SQLException {
        List<Settlement> settlements = new ArrayList<>();
        List<Settlement> lasting = new ArrayList<>();
        List<Resolution> resolutions = new ArrayList<>();
        for (RowEnding ending : sorted) {
            TakenRow held = ending.taken();
            if (ending.to() != null && held.entryState() == TakenRow.EntryState.CLAIMED) {
                Settlement settlement = Settlement.of(
                        ending.id(), held.token(), ending.to(), Optional.ofNullable(ending.result()), ending.reason());
                settlements.add(settlement);
                if (ending.to() == State.RETRYABLE && held.stored().lasting()) {
                    lasting.add(settlement);
                }
            } else if (ending.to() != null) {
                resolutions.add(Resolution.of(
                                ending.id(),
                                held.attempt(),
                                ending.to(),
                                Optional.ofNullable(ending.result()),
                                context.settings().name(),
                                ending.reason())
                        .about(StoredEntry.instant(held.stored().entryAt())));
            }
        }
        context.lasting().release(connection, lasting);
        int expected = settlements.size() + resolutions.size();
        if (expected > 0
                && context.database()
                                .inTransaction()
                                .end(
                                        connection,
                                        context.sealing().seal(settlements),
                                        context.sealing().sealAll(resolutions))
                                .size()
                        < expected) {
            throw new Lost();
        }
        return expected;
    }

    private void publish(RowEnding ending) {
        TakenRow held = ending.taken();
        String operation = held.stored().row().key().operation();
        if (ending.to() != null) {
            State from = held.entryState() == TakenRow.EntryState.CLAIMED ? State.PROCESSING : State.UNKNOWN;
            context.publish(new Event.Changed(new Transition(
                    ending.id(),
                    operation,
                    from,
                    ending.to(),
                    held.attempt(),
                    context.settings().name(),
                    ending.reason())));
        }
        boolean deleted = ending.fate().isDeleted();
        boolean givenUp = ending.fate().dead() || (deleted && held.delivery() instanceof Delivery.NotExecuted);
        Event.Delivery.Fate progress = givenUp
                ? Event.Delivery.Fate.DEAD
                : deleted ? Event.Delivery.Fate.DELIVERED : Event.Delivery.Fate.RETRIED;
        if (progress == Event.Delivery.Fate.DEAD) {
            log.warn("Dead letter: {}: {}", held.row(), ending.reason());
        }
        context.publish(new Event.Delivery(ending.id(), operation, progress));
        if (held.isCalled()) {
            long called = held.calledNanos();
            long now = context.settings().time().nanos();
            context.publish(new Event.Took(operation, Event.Took.Part.EXECUTE, called - held.takenNanos()));
            context.publish(new Event.Took(operation, Event.Took.Part.SETTLE, now - called));
        }
        if (ending.fate().isDeleted()) {
            context.waiters().ended(ending.id());
        }
    }
}
