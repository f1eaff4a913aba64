package dev.onlyonce.sql.outbox;

import dev.onlyonce.Event;
import dev.onlyonce.sql.internal.connections.Transaction;
import dev.onlyonce.sql.internal.entries.StoredEntry;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Envelope;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Tokens;
import dev.onlyonce.store.Transition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes due rows and decides what each needs.
 *
 * <ol>
 *   <li>One transaction takes the rows with a token and a lease, and notes that a call may follow.
 *   <li>Their entries are read. A row whose entry was replaced by a new one, or is gone after a call, is deleted.
 *   <li>Pending and retryable entries are claimed with the same token, all in one statement. Who gets no claim makes no
 *       call: the sweeper may have answered 408 in the meantime.
 *   <li>A row whose entry is unknown is asked about again by the same downstream key, as long as the provider honours that;
 *       else it is parked.
 *   <li>A row with a recorded answer, or with an answered entry, only has to be finished.
 * </ol>
 */
final class RowTaker {
    /** How long to wait for an entry that somebody else has just changed. */
    private static final Duration SHORTLY = Duration.ofMillis(200);
    /** A sweep after the lease's end should have passed by then. */
    private static final Duration SWEPT = Duration.ofSeconds(1);

    /** How many batches that only wait in line are put off before the worker may look after something else. */
    private static final int ROUNDS_MAX = 100;

    /** After this many locked entries the rows that are due are not kept waiting by more. */
    private static final int LOCKED_MAX = 3;

    private static final Delivery NONE = new Delivery.Ambiguous("not called yet");
    private static final Delivery EXPIRED = new Delivery.NotExecuted("its entry is gone, and nobody was called");
    private static final Logger log = LoggerFactory.getLogger(RowTaker.class);

    private final OutboxContext context;
    private final List<String> begin;
    /** Claims whose acknowledgement was lost: no call was made, so they are released. */
    private final List<Unconfirmed> unconfirmed = new ArrayList<>();

    private boolean more;

    RowTaker(OutboxContext context) {
        this.context = context;
        this.begin = context.begin();
    }

    /** A claim to be released. */
    private record Unconfirmed(Settlement release, boolean lasting) {
        static Unconfirmed of(StoredRow row, UUID token, String why) {
            return new Unconfirmed(
                    Settlement.of(row.entry(), token, State.RETRYABLE, Optional.empty(), why), row.lasting());
        }
    }

    /** The decisions about one batch. */
    private static final class Sorted {
        final List<TakenRow> held = new ArrayList<>();
        final List<StoredRow> free = new ArrayList<>();
        final List<OutboxTable.End> ends = new ArrayList<>();
        final List<TakenRow> resent = new ArrayList<>();
    }

    /** Takes rows where there is room. Returns those that need a call, or have an answer to be finished; one at a time. */
    synchronized List<TakenRow> take(Map<String, InHand.Room> rooms) {
        releaseUnconfirmed();
        more = false;
        if (rooms.isEmpty()) {
            return List.of();
        }
        UUID token = Tokens.next();
        OutboxSettings settings = context.settings();
        long begun = settings.time().nanos();
        long leaseUs = StoredEntry.micros(settings.lease());
        List<StoredRow> rows = firstInLine(rooms, token, leaseUs);
        if (rows.isEmpty()) {
            return List.of();
        }
        List<EntryId> ids =
                rows.stream().map(StoredRow::entry).distinct().sorted().toList();
        Map<EntryId, Entry> entries =
                context.connections().read(c -> context.database().find(c, ids));
        Sorted sorted = new Sorted();
        rows.forEach(row -> sort(row, entries.get(row.entry()), token, sorted));
        claim(sorted, entries, token, begun);
        write(sorted);
        for (TakenRow held : sorted.held) {
            held.taken(begun);
            held.heldUntil(begun + settings.lease().toNanos());
            if (held.entryState() == TakenRow.EntryState.UNKNOWN) {
                held.askUntil(begun + TimeUnit.MICROSECONDS.toNanos(settings.askLeftUs(held.stored())));
            }
        }
        return sorted.held;
    }

    /** Rows that wait in line are put off, and those behind them are looked at. */
    private List<StoredRow> firstInLine(Map<String, InHand.Room> rooms, UUID token, long leaseUs) {
        DueRows due = context.due();
        for (int round = 0; round < ROUNDS_MAX; round++) {
            DueRows.Batch batch = context.connections()
                    .write(c -> Transaction.run(c, begin, t -> due.take(t, rooms, token, leaseUs)));
            more = batch.isFull();
            if (!batch.rows().isEmpty() || !more) {
                return batch.rows();
            }
        }
        return List.of();
    }

    /** Whether there may be more rows that are due, after those that were taken last. */
    synchronized boolean hasMore() {
        return more;
    }

    private void write(Sorted sorted) {
        if (sorted.ends.isEmpty() && sorted.resent.isEmpty()) {
            return;
        }
        try {
            context.connections()
                    .write(c -> Transaction.run(
                            c,
                            begin,
                            transaction -> context.bounds().run(transaction, true, t -> {
                                context.table().sending(t, sorted.resent);
                                return context.table().end(t, sorted.ends);
                            })));
        } catch (Throwable e) {
            // Nobody is called. What was claimed must not be taken for a call that nobody knows the end of.
            sorted.held.stream()
                    .filter(held -> held.entryState() == TakenRow.EntryState.CLAIMED)
                    .forEach(held -> unconfirmed.add(
                            Unconfirmed.of(held.stored(), held.token(), "taking it failed; nobody called")));
            throw e;
        }
        new NextInLine(context)
                .call(DeliveryOrder.of(sorted.ends.stream()
                        .filter(end -> end.fate().isDeleted())
                        .map(end -> end.held().stored().row())));
    }

    private void sort(StoredRow row, @Nullable Entry stored, UUID token, Sorted sorted) {
        if (stored == null || !stored.createdAt().equals(StoredEntry.instant(row.entryAt()))) {
            gone(row, stored, token, sorted);
            return;
        }
        Entry entry = context.sealing().shown(stored);
        switch (entry.state()) {
            case PENDING, RETRYABLE -> sorted.free.add(row);
            case PROCESSING ->
                sorted.ends.add(end(row, token, later(row, entry.leaseLeft().plus(SWEPT))));
            case COMPLETED, FAILED -> ended(row, entry, token, sorted);
            case EXPIRED -> gone(row, null, token, sorted);
            case UNKNOWN -> {
                if (row.answer() != null) {
                    sorted.held.add(
                            new TakenRow(row, token, TakenRow.EntryState.UNKNOWN, entry.attempt(), row.answer()));
                } else if (!row.row().dead()
                        && context.settings().canAsk(row, row.row().tries())) {
                    sorted.held.add(new TakenRow(row, token, TakenRow.EntryState.UNKNOWN, entry.attempt(), NONE));
                } else {
                    park(row, token, sorted);
                }
            }
        }
    }

    /** What the provider did, or will never do, must reach the business data, unless the key has been used again since. */
    private static void gone(StoredRow row, @Nullable Entry another, UUID token, Sorted sorted) {
        Delivery answer = row.answer();
        if (another == null && answer != null && !(answer instanceof Delivery.Ambiguous)) {
            sorted.held.add(new TakenRow(row, token, TakenRow.EntryState.ENDED, 0, answer));
            return;
        }
        if (another == null && answer == null && row.firstSentAt() == null) {
            log.warn("Given up: its entry is gone, and nobody was called: {}", row.row());
            sorted.held.add(new TakenRow(row, token, TakenRow.EntryState.ENDED, 0, EXPIRED));
            return;
        }
        log.info("Dropped: its entry is gone: {}", row.row());
        sorted.ends.add(end(row, token, OutboxTable.Fate.DELETED));
    }

    private void ended(StoredRow row, Entry entry, UUID token, Sorted sorted) {
        try {
            sorted.held.add(new TakenRow(row, token, TakenRow.EntryState.ENDED, entry.attempt(), answer(row, entry)));
        } catch (StoreUnavailable e) {
            log.error("Put off, because what its entry says cannot be read: {}: {}", row.row(), e.getMessage());
            sorted.ends.add(end(row, token, later(row, context.settings().parkFor())));
        }
    }

    private void park(StoredRow row, UUID token, Sorted sorted) {
        if (!row.row().dead()) {
            log.warn("Dead letter, the reconciler or an operator has to decide: {}", row.row());
            context.publish(new Event.Delivery(row.entry(), row.row().key().operation(), Event.Delivery.Fate.DEAD));
        }
        long delay = StoredEntry.micros(context.settings().parkFor());
        Long sentAt = row.firstSentAt() == null ? Long.valueOf(row.takenAt()) : row.firstSentAt();
        sorted.ends.add(end(
                row,
                token,
                new OutboxTable.Fate(
                        delay, row.row().tries(), sentAt, true, row.row().lastError())));
    }

    /** What the reconciler, an operator or the sweeper made of it. */
    private static Delivery answer(StoredRow row, Entry entry) {
        Envelope.Content content = Envelope.open(entry.result());
        if (entry.state() == State.FAILED) {
            Failure failure = content instanceof Envelope.Content.Failed failed
                    ? failed.failure()
                    : new Failure(Failure.DELIVERY_FAILED, "it failed");
            return new Delivery.NotExecuted(failure.code() + ": " + failure.message());
        }
        if (row.answer() != null && !(row.answer() instanceof Delivery.Ambiguous)) {
            return row.answer();
        }
        byte[] result = content instanceof Envelope.Content.Value value ? value.bytes() : new byte[0];
        return new Delivery.Delivered(row.row().providerId(), result);
    }

    @SuppressWarnings("NullAway") // It does not see in class files that a result may be null.
    private void claim(Sorted sorted, Map<EntryId, Entry> entries, UUID token, long begunNanos) {
        if (sorted.free.isEmpty()) {
            return;
        }
        OutboxSettings settings = context.settings();
        List<ClaimRequest> claims = new ArrayList<>();
        for (StoredRow row : sorted.free) {
            Entry entry = entries.get(row.entry());
            if (entry != null) {
                claims.add(new ClaimRequest(
                        entry.id(),
                        entry.operation(),
                        entry.fingerprint(),
                        token,
                        settings.name(),
                        settings.claimTerms(entry.operation()),
                        State.PROCESSING));
            }
        }
        claims.sort(Comparator.comparing(ClaimRequest::id));
        Map<EntryId, Integer> attempts;
        try {
            attempts = context.connections()
                    .write(c -> context.database().changes().take(c, claims));
        } catch (StoreOutcomeUnknown e) {
            sorted.free.forEach(
                    row -> unconfirmed.add(Unconfirmed.of(row, token, "the claim was not confirmed; nobody called")));
            throw e;
        }
        for (StoredRow row : sorted.free) {
            Integer attempt = attempts.get(row.entry());
            if (attempt == null) {
                sorted.ends.add(end(row, token, later(row, SHORTLY)));
            } else {
                Delivery known = row.answer() == null ? NONE : row.answer();
                TakenRow held = new TakenRow(row, token, TakenRow.EntryState.CLAIMED, attempt, known);
                sorted.held.add(held);
                if (row.firstSentAt() != null) {
                    sorted.resent.add(held);
                }
                claimed(held, begunNanos);
            }
        }
    }

    private void claimed(TakenRow held, long begunNanos) {
        long took = context.settings().time().nanos() - begunNanos;
        OutboxRow row = held.stored().row();
        context.publish(new Event.Changed(new Transition(
                held.stored().entry(),
                row.key().operation(),
                held.attempt() == 1 ? State.PENDING : State.RETRYABLE,
                State.PROCESSING,
                held.attempt(),
                context.settings().name(),
                "a worker took it")));
        context.publish(new Event.Took(row.key().operation(), Event.Took.Part.CLAIM, took));
    }

    private void releaseUnconfirmed() {
        if (unconfirmed.isEmpty()) {
            return;
        }
        try {
            release(unconfirmed, true);
            unconfirmed.clear();
        } catch (StoreBusy e) {
            // Somebody has locked an entry; that must not cost the others their lease.
            log.debug("{} claims that were not confirmed are released one by one", unconfirmed.size(), e);
            releaseEach();
        }
    }

    /** A locked one moves to the end, so that the next round begins with others. */
    private void releaseEach() {
        int locked = 0;
        for (Unconfirmed claim : List.copyOf(unconfirmed)) {
            boolean released = releaseAlone(claim);
            unconfirmed.remove(claim);
            if (!released) {
                unconfirmed.add(claim);
                if (++locked == LOCKED_MAX) {
                    return;
                }
            }
        }
    }

    private boolean releaseAlone(Unconfirmed claim) {
        try {
            release(List.of(claim), false);
            return true;
        } catch (StoreBusy e) {
            log.debug("A claim that was not confirmed is released later", e);
            return false;
        }
    }

    private void release(List<Unconfirmed> claims, boolean patient) {
        List<Settlement> all = releases(claims.stream());
        List<Settlement> lasting = releases(claims.stream().filter(Unconfirmed::lasting));
        context.connections()
                .transaction(transaction -> context.bounds().run(transaction, patient, t -> {
                    context.lasting().release(t, lasting);
                    return context.database().inTransaction().end(t, all, List.of());
                }));
    }

    private static List<Settlement> releases(Stream<Unconfirmed> claims) {
        return claims.map(Unconfirmed::release)
                .sorted(Comparator.comparing(Settlement::id))
                .toList();
    }

    /** Nothing was done: this try does not count. */
    private static OutboxTable.Fate later(StoredRow row, Duration delay) {
        return new OutboxTable.Fate(
                StoredEntry.micros(delay),
                row.row().tries(),
                row.firstSentAt(),
                row.row().dead(),
                row.row().lastError());
    }

    private static OutboxTable.End end(StoredRow row, UUID token, OutboxTable.Fate fate) {
        return new OutboxTable.End(new TakenRow(row, token, TakenRow.EntryState.ENDED, 0, NONE), fate);
    }
}
