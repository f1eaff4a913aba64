package dev.onlyonce;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Event.Reconciled.Progress;
import dev.onlyonce.Reconciler.Finding;
import dev.onlyonce.Reconciler.Round;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks reconcilers about unknown entries until one can tell.
 *
 * <ol>
 *   <li>Every round reads the unknown entries, a page at a time. A long list is read less often: {@link #LIST_SHARE}.
 *   <li>Its reconciler is asked about each entry that is due. <em>Found</em> completes it, <em>absent</em> makes it retryable.
 *   <li>Otherwise it is due again after a pause that doubles with every try, or when an absence may be believed, if that is earlier. After
 *       {@link #TRIES_MAX} tries the log asks for an operator, and the reconciler is still asked, at the longest pause.
 * </ol>
 *
 * <p>A reconciler that does not answer costs the others a minute of a round: {@link ReconcilerCalls}.
 *
 * <p>The schedule is in memory only: a restart asks again at once, and several nodes may ask about the same entry. Looking
 * does no harm, and resolving changes only an entry that is still unknown.
 */
final class Reconciliation {
    /** About a quarter of an hour of doubling pauses. */
    static final int TRIES_MAX = 10;
    /** Entries are read without results, so a page is small. */
    private static final int PAGE = 200;
    /** After a list of several pages a round waits this many times as long as reading took: 100,000 entries must not be read every second. */
    private static final int LIST_SHARE = 10;

    private static final Duration PAUSE_FIRST = Duration.ofSeconds(1);
    private static final Duration PAUSE_LONGEST = Duration.ofMinutes(5);
    private static final Finding TOO_EARLY =
            new Finding.CannotTell("absent so far, but a call on its way, or a paused owner, may yet act");
    private static final String WHO = "reconciler";
    private static final Logger log = LoggerFactory.getLogger(Reconciliation.class);

    private final Parts parts;
    private final BiFunction<Resolution, String, SettleResult> resolve;
    private final Map<String, Reconciler> reconcilers;
    private final Function<String, Policy> policies;
    private final ReconcilerCalls calls;
    private volatile Map<EntryId, Asked> histories = Map.of();
    private long restUntil; // guarded by this

    private record Asked(
            Instant createdAt,
            int attempt,
            int tries,
            long dueNanos,
            @Nullable Instant at,
            @Nullable String word) {
        boolean isAbout(Entry entry) {
            return attempt == entry.attempt() && createdAt.equals(entry.createdAt());
        }
    }

    Reconciliation(
            Parts parts,
            BiFunction<Resolution, String, SettleResult> resolve,
            Map<String, Reconciler> reconcilers,
            Function<String, Policy> policies) {
        this.parts = parts;
        this.resolve = resolve;
        this.reconcilers = reconcilers;
        this.policies = policies;
        this.restUntil = parts.nanos();
        this.calls = new ReconcilerCalls(reconcilers.size(), ReconcilerCalls.ANSWER_MAX);
    }

    /** What is known about an unknown entry; empty if its reconciler has not been asked by this node. */
    Optional<Reconciler.Progress> progress(Entry entry) {
        Asked asked = histories.get(entry.id());
        if (asked == null || !asked.isAbout(entry) || asked.at == null || asked.word == null) {
            return Optional.empty();
        }
        Duration left = Duration.ofNanos(Math.max(0, asked.dueNanos - parts.nanos()));
        return Optional.of(new Reconciler.Progress(asked.tries, asked.at, asked.word, left));
    }

    /** Asks about one entry now, if it has a reconciler and is unknown. */
    synchronized Round run(Entry entry) {
        Reconciler reconciler = reconcilers.get(entry.operation());
        if (reconciler == null || entry.state() != State.UNKNOWN) {
            return new Round(0, 0, 0, 0);
        }
        Map<EntryId, Asked> seen = new HashMap<>(histories);
        calls.begin();
        Asking end = ask(entry, reconciler, seen, true);
        if (end != Asking.UNDECIDED) {
            seen.remove(entry.id());
        }
        histories = seen;
        return round(Map.of(end, 1));
    }

    /** One round; with {@code now}, also for entries that are not due. An interrupt ends it early. */
    synchronized Round run(boolean now) {
        if (!now && parts.nanos() - restUntil < 0) {
            return new Round(0, 0, 0, 0);
        }
        Map<EntryId, Asked> seen = new HashMap<>();
        Map<Asking, Integer> asked = new EnumMap<>(Asking.class);
        calls.begin();
        EntryQuery query = EntryQuery.all(PAGE).in(State.UNKNOWN);
        List<Entry> page;
        long reading = 0;
        int pages = 0;
        do {
            long begun = parts.nanos();
            page = parts.store().list(query);
            reading += parts.nanos() - begun;
            pages++;
            for (Entry entry : page) {
                Reconciler reconciler = reconcilers.get(entry.operation());
                if (reconciler != null) {
                    asked.merge(ask(entry, reconciler, seen, now), 1, Integer::sum);
                }
                query = query.after(entry.id());
            }
        } while (page.size() == PAGE && !Thread.currentThread().isInterrupted());
        // Entries that are no longer unknown are forgotten with the old map.
        histories = seen;
        restUntil = parts.nanos() + (pages > 1 ? LIST_SHARE * reading : 0);
        return round(asked);
    }

    private static Round round(Map<Asking, Integer> asked) {
        int found = asked.getOrDefault(Asking.FOUND, 0);
        int absent = asked.getOrDefault(Asking.ABSENT, 0);
        int undecided = asked.getOrDefault(Asking.UNDECIDED, 0);
        return new Round(found + absent + undecided, found, absent, undecided);
    }

    /** The result of one entry in a round. */
    private enum Asking {
        NOT_DUE,
        FOUND,
        ABSENT,
        UNDECIDED
    }

    private Asking ask(Entry entry, Reconciler reconciler, Map<EntryId, Asked> seen, boolean now) {
        Asked before = histories.get(entry.id());
        if (before == null || !before.isAbout(entry)) {
            parts.tell(new Event.Reconciled(entry.id(), entry.operation(), Progress.SCHEDULED));
            before = new Asked(entry.createdAt(), entry.attempt(), 0, parts.nanos(), null, null);
        }
        if (!calls.isFree(reconciler) || (!now && parts.nanos() - before.dueNanos < 0)) {
            seen.put(entry.id(), before);
            return Asking.NOT_DUE;
        }
        Finding finding = calls.ask(reconciler, entry);
        Duration early = finding instanceof Finding.Absent ? untilBelieved(entry, reconciler) : Duration.ZERO;
        if (!early.isZero()) {
            seen.put(entry.id(), again(entry, before, TOO_EARLY, early));
            return Asking.UNDECIDED;
        }
        Resolution resolution = resolution(entry, finding);
        if (resolution == null) {
            seen.put(entry.id(), again(entry, before, finding, PAUSE_LONGEST));
            return Asking.UNDECIDED;
        }
        SettleResult settled;
        try {
            settled = resolve.apply(resolution.about(entry.createdAt()), entry.operation());
        } catch (StoreUnavailable e) {
            throw e; // no entry can be resolved now
        } catch (RuntimeException e) {
            // This one cannot be recorded; the others go on.
            Finding failed = new Finding.CannotTell("it could not be recorded: " + e);
            seen.put(entry.id(), again(entry, before, failed, PAUSE_LONGEST));
            return Asking.UNDECIDED;
        }
        // If another node was faster, the entry is resolved too.
        if (settled instanceof SettleResult.Settled) {
            parts.tell(new Event.Reconciled(entry.id(), entry.operation(), Progress.RESOLVED));
            log.info("Reconciled: {} is now {}: {}", entry.id(), resolution.to(), resolution.reason());
        }
        return resolution.to() == State.COMPLETED ? Asking.FOUND : Asking.ABSENT;
    }

    /** For how long an absence is not believed yet. */
    private Duration untilBelieved(Entry entry, Reconciler reconciler) {
        Instant unknownSince = entry.settledAt() == null ? entry.readAt() : entry.settledAt();
        Duration unknownFor = Duration.between(unknownSince, entry.readAt());
        // Start-up refuses a shorter absentAfter, but policies may be declared later, and answers may change.
        Duration callMax = policies.apply(entry.operation()).callMax();
        Duration absentAfter = absentAfter(reconciler);
        Duration patience = absentAfter.compareTo(callMax) > 0 ? absentAfter : callMax;
        // The clock of the store may have gone back.
        Duration left = unknownFor.isNegative() ? patience : patience.minus(unknownFor);
        return left.isNegative() ? Duration.ZERO : left;
    }

    /** One that cannot tell is never believed. */
    private static Duration absentAfter(Reconciler reconciler) {
        try {
            return requireNonNull(reconciler.absentAfter(), "absentAfter");
        } catch (RuntimeException | Error e) {
            log.warn("A reconciler does not say when an absence is to be believed", e);
            return ChronoUnit.FOREVER.getDuration();
        }
    }

    private static @Nullable Resolution resolution(Entry entry, Finding finding) {
        if (finding instanceof Finding.Found found) {
            Optional<byte[]> result = Optional.ofNullable(found.result());
            return Resolution.found(entry.id(), entry.attempt(), result, WHO, "the effect was found");
        }
        return finding instanceof Finding.Absent absent
                ? Resolution.absent(entry.id(), entry.attempt(), WHO, absent.proof())
                : null;
    }

    /** Due again after a pause of at most {@code longest}. */
    private Asked again(Entry entry, Asked before, Finding finding, Duration longest) {
        int tries = before.tries + 1;
        if (tries == TRIES_MAX) {
            parts.tell(new Event.Reconciled(entry.id(), entry.operation(), Progress.FAILED));
            log.warn(
                    "Not reconciled in {} tries, an operator has to decide: {} of {}: {}",
                    tries,
                    entry.id(),
                    entry.operation(),
                    ((Finding.CannotTell) finding).why());
        }
        Duration doubled = PAUSE_FIRST.multipliedBy(1L << Math.min(before.tries, 20));
        Duration most = longest.compareTo(PAUSE_LONGEST) < 0 ? longest : PAUSE_LONGEST;
        long pause = (doubled.compareTo(most) < 0 ? doubled : most).toNanos();
        return new Asked(
                entry.createdAt(),
                entry.attempt(),
                tries,
                parts.nanos() + pause,
                parts.time().now(),
                word(finding));
    }

    private static String word(Finding finding) {
        return finding instanceof Finding.CannotTell unclear ? unclear.why() : finding.toString();
    }
}
