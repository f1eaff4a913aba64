package dev.onlyonce.client;

import dev.onlyonce.client.CallResult.Reason;
import dev.onlyonce.client.Journal.Verdict;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings one call to its end, or to the deadline. The journal has the call before this begins.
 *
 * <ol>
 *   <li>Stop if the deadline has passed, or if the server may have forgotten the key of an attempt that may have had an effect.
 *   <li>Send, with the same key and the same bytes as ever.
 *   <li>A definitive answer: the journal records it, and that is the end.
 *   <li>A request that is running, or whose outcome is unknown: wait as long as the server asks, ask for the status, then
 *       send again.
 *   <li>A failure: if attempts and budget allow, wait and send again.
 * </ol>
 *
 * <p>An interrupt or an exception ends it at any point; the call stays open in the journal.
 */
final class CallRun {
    static final String STATUS_PATH = "/.well-known/idempotency/status";

    private static final Logger log = LoggerFactory.getLogger(CallRun.class);
    private static final Set<String> UNDECIDED = Set.of("unknown", "processing", "pending");
    private static final int ATTEMPTS_TOLD_MAX = 100;
    private static final Duration TIMEOUT_MIN = Duration.ofMillis(1);
    private static final Duration AGE_MAX = Duration.ofDays(36500);
    /** Clocks of machines that share a journal differ; a clock that is behind by more was set back. */
    private static final Duration CLOCKS_APART_MAX = Duration.ofMinutes(1);

    private static final Duration EXPIRY_STEP = Duration.ofSeconds(5);

    private final ClientContext context;
    private final JournaledCall call;
    private final CallRequest request;
    private final Redirects wire;
    private final List<Attempt> attempts = new ArrayList<>();
    private final long begun;

    /** Whether an attempt, maybe of an earlier process, may have had an effect that we do not know of. */
    private boolean doubt;
    /** When the server may forget the key, on the monotonic clock: as it said itself, or as the policy expects. */
    private long keyEndsAt;

    /** The same on the wall clock, as an answer said; the journal has it for a later process. */
    private @Nullable Instant keyExpiresAt;

    private @Nullable Instant expiryRecorded;

    private int failures;
    private int waits;
    /** Whether a refusal after doubt was asked for again, to see it marked. */
    private boolean askedAgain;

    private @Nullable CallResponse last;

    /**
     * Prepares a run.
     *
     * @param call its progress says when it was sent, and whether by others too
     * @param live the request with its secrets
     */
    CallRun(ClientContext context, JournaledCall call, CallRequest live, Transport transport) {
        this.context = context;
        this.call = call;
        this.request = context.keyed(live, call.key());
        this.wire = new Redirects(context, transport);
        this.begun = context.time.nanos();
        Duration left = keyLifetime(call).minus(age(call));
        this.keyEndsAt = begun + left.toNanos();
        JournaledCall.Sent sent = call.progress().sent();
        // Also one that was refused before: the age of the first sending counts for all later ones.
        this.doubt = left.isNegative() || left.isZero() || (sent != null && sent.senders() > 1);
        this.expiryRecorded = call.progress().keyExpiresAt();
    }

    /** From the first attempt on: as an answer to an earlier run said, or as the policy expects. */
    private Duration keyLifetime(JournaledCall call) {
        JournaledCall.Progress progress = call.progress();
        return progress.keyExpiresAt() == null || progress.sentAt() == null
                ? context.policy.server().keyLifetime()
                : bounded(Duration.between(progress.sentAt(), progress.keyExpiresAt()));
    }

    private static Duration bounded(Duration duration) {
        return max(Duration.ZERO, min(duration, AGE_MAX));
    }

    /** Of the key. If the clock was set back, it may be any; one in the far future does not overflow. */
    private Duration age(JournaledCall call) {
        JournaledCall.Sent sent = call.progress().sent();
        if (sent == null) {
            return Duration.ZERO;
        }
        Instant now = context.time.now();
        return now.plus(CLOCKS_APART_MAX).isBefore(sent.latest())
                ? AGE_MAX
                : max(context.sentHere.age(call.id()), bounded(Duration.between(sent.first(), now)));
    }

    CallResult run() throws InterruptedException {
        CallResult result = loop();
        context.tell(listener -> listener.finished(result, elapsed()));
        return result;
    }

    private CallResult loop() throws InterruptedException {
        for (Reason stop = stopNow(); ; stop = stopNow()) {
            if (stop != null) {
                return inDoubt(stop);
            }
            Reading reading;
            boolean doubtBefore = doubt;
            try {
                reading = attempt();
            } catch (BodyChanged e) {
                tell(elapsed(), 0, String.valueOf(e.getMessage()));
                return inDoubt(Reason.BODY_CHANGED);
            }
            doubt |= reading.inDoubt();
            Optional<CallResult> end = end(reading, doubtBefore);
            if (end.isPresent()) {
                return end.get();
            }
            recordExpiry();
            Reason tired = pause(reading);
            if (tired != null) {
                return inDoubt(tired);
            }
            if (reading.kind() == Reading.Kind.UNKNOWN) {
                awaitStatus();
            }
        }
    }

    /** Why not to send again. */
    private @Nullable Reason stopNow() {
        if (doubt && !context.policy.server().honoursKeys()) {
            return Reason.NOT_REPEATABLE;
        }
        if (doubt && context.time.nanos() - keyEndsAt >= 0) {
            return Reason.KEY_EXPIRED;
        }
        return left().isNegative() || left().isZero() ? Reason.DEADLINE : null;
    }

    private Reading attempt() throws BodyChanged, InterruptedException {
        Duration after = elapsed();
        Duration timeout = attemptTimeout();
        Reading reading;
        last = null;
        try {
            CallResponse response = wire.exchange(request, timeout);
            last = response;
            reading = Reading.of(response, context.policy.server());
            AnswerTimes.keyLeft(response, context.time.now()).ifPresent(this::keyLives);
        } catch (BodyChanged e) {
            throw e;
        } catch (IOException e) {
            boolean sent = !isNothingSent(e);
            String what = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
            reading =
                    new Reading(Reading.Kind.AGAIN, sent, what + (sent ? ", outcome not known" : ", nothing was sent"));
        }
        tell(after, last == null ? 0 : last.status(), reading.why());
        return reading;
    }

    private void keyLives(Duration left) {
        keyEndsAt = context.time.nanos() + left.toNanos();
        keyExpiresAt = context.time.now().plus(left);
    }

    /** Before a pause or an end without an answer. Answers repeat the expiry, so only a change is worth a write. */
    private void recordExpiry() {
        Instant expiry = keyExpiresAt;
        if (expiry == null
                || (expiryRecorded != null
                        && Duration.between(expiryRecorded, expiry).abs().compareTo(EXPIRY_STEP) < 0)) {
            return;
        }
        try {
            context.journal.expires(call.id(), expiry);
            expiryRecorded = expiry;
        } catch (JournalException e) {
            log.warn("The expiry of the key of {} could not be recorded in the journal", call.id(), e);
        }
    }

    /** Positive, even if the deadline has passed since it was looked at. */
    private Duration attemptTimeout() {
        return max(TIMEOUT_MIN, min(context.policy.limits().attemptTimeout(), left()));
    }

    private static boolean isNothingSent(IOException e) {
        return e instanceof ConnectException
                || e instanceof UnknownHostException
                || e instanceof NoRouteToHostException
                || e instanceof HttpConnectTimeoutException
                || e instanceof SSLHandshakeException;
    }

    /** The end of the call, if this answer is one. */
    private Optional<CallResult> end(Reading reading, boolean doubtBefore) {
        CallResponse response = last;
        if (response == null) {
            return Optional.empty();
        }
        return switch (reading.kind()) {
            case DONE ->
                Optional.of(settled(
                        response, new CallResult.Done(call.id(), response, Reading.isReplayed(response), told())));
            case REFUSED -> Optional.of(settled(response, refused(response, reading)));
            case REFUSED_NOW, REDIRECT, REFUSED_UNMARKED, CONFLICT ->
                doubtBefore ? refusedInDoubt(reading) : refusedAlone(response, reading);
            case KEY_REUSED -> throw new KeyReused(call.id(), reading.why());
            case KEY_EXPIRED -> Optional.of(inDoubt(Reason.KEY_EXPIRED));
            case RECORDED_ERROR -> Optional.of(inDoubt(Reason.RECORDED_ERROR));
            case ELSEWHERE -> Optional.of(inDoubt(Reason.ELSEWHERE));
            case RUNNING, UNKNOWN, AGAIN -> Optional.empty();
        };
    }

    private CallResult.Refused refused(CallResponse response, Reading reading) {
        return new CallResult.Refused(call.id(), response, reading.why(), told());
    }

    /** It says nothing about an earlier attempt, but a server that knows the key may mark its answer to the next. */
    private Optional<CallResult> refusedInDoubt(Reading reading) {
        if (reading.kind() == Reading.Kind.CONFLICT) {
            return Optional.empty();
        }
        if (reading.kind() == Reading.Kind.REFUSED_UNMARKED && !askedAgain) {
            askedAgain = true;
            return Optional.empty();
        }
        return Optional.of(inDoubt(Reason.NOT_TAKEN));
    }

    /** Final, unless the journal knows of another sender by now. */
    private Optional<CallResult> refusedAlone(CallResponse response, Reading reading) {
        CallResult refused = refused(response, reading);
        try {
            if (context.journal.settle(call.id(), response, Verdict.REFUSED_UNPROVEN, context.time.now())) {
                context.ended(call.id());
                return Optional.of(refused);
            }
            Optional<JournaledCall> now = context.journal.find(call.id());
            if (now.isEmpty() || now.get().progress().answer() != null) {
                return Optional.of(recorded(now).orElse(refused));
            }
        } catch (JournalException e) {
            log.warn("The journal does not tell whether {} was sent by others too", call.id(), e);
        }
        doubt = true;
        return refusedInDoubt(reading);
    }

    /** What another sender has recorded meanwhile, if it was done. */
    private Optional<CallResult> recorded(Optional<JournaledCall> now) {
        return now.map(it -> it.progress().answer())
                .filter(answer -> Reading.of(answer, context.policy.server()).isDone())
                .map(answer -> new CallResult.Done(call.id(), answer, true, told()));
    }

    private CallResult settled(CallResponse response, CallResult result) {
        context.budget.succeeded();
        Verdict verdict = result instanceof CallResult.Done ? Verdict.DONE : Verdict.REFUSED;
        try {
            boolean recorded = context.journal.settle(call.id(), response, verdict, context.time.now());
            context.ended(call.id());
            if (!recorded && verdict == Verdict.REFUSED) {
                return recorded(context.journal.find(call.id())).orElse(result);
            }
        } catch (JournalException e) {
            // The answer is known, and the caller gets it. The call stays open; resuming it gets the same answer again.
            log.warn("The answer to {} could not be recorded in the journal", call.id(), e);
        }
        return result;
    }

    /** Waits before the next attempt; returns why there is none. */
    private @Nullable Reason pause(Reading reading) throws InterruptedException {
        int round;
        if (reading.kind() == Reading.Kind.AGAIN || reading.kind() == Reading.Kind.REFUSED_UNMARKED) {
            round = ++failures;
            if (failures >= context.policy.limits().attemptsMax()) {
                return Reason.ATTEMPTS;
            }
            if (doubt && !context.policy.server().honoursKeys()) {
                return Reason.NOT_REPEATABLE;
            }
            if (!context.budget.take()) {
                return Reason.BUDGET;
            }
        } else {
            round = ++waits;
        }
        return pause(round) ? null : Reason.DEADLINE;
    }

    /** Full jitter up to a bound that doubles, or what the server asks and a little jitter. False if that is too long. */
    private boolean pause(int round) throws InterruptedException {
        RetryPolicy.Pauses pauses = context.policy.pauses();
        Optional<Duration> asked = last == null ? Optional.empty() : AnswerTimes.retryAfter(last, context.time.now());
        Duration pause;
        if (asked.isPresent()) {
            pause = asked.get().plus(upTo(pauses.first()));
            if (pause.compareTo(left()) >= 0) {
                return false;
            }
        } else {
            Duration bound = pauses.first().multipliedBy(1L << Math.min(20, round - 1));
            // Rather a little early than not at all before the deadline.
            pause = min(upTo(min(bound, pauses.longest())), max(Duration.ZERO, left().dividedBy(2)));
        }
        context.tell(listener -> listener.waiting(call.id(), pause));
        context.time.pause(pause);
        return true;
    }

    /** Asks the status resource until there is something to fetch, or it cannot tell. Sending again is safe in any case. */
    private void awaitStatus() throws InterruptedException {
        while (stopNow() == null) {
            Duration after = elapsed();
            try {
                CallRequest status = context.dressed(
                        new CallRequest("GET", request.uri().resolve(STATUS_PATH), request.headers(), CallBody.none()));
                CallResponse response = wire.once(status, attemptTimeout());
                String state = JsonMembers.of(response.body()).get("state").orElse("not told");
                tell(after, response.status(), "status: " + state);
                last = response;
                if (response.status() != 200 || !UNDECIDED.contains(state) || !pause(++waits)) {
                    return;
                }
            } catch (IOException e) {
                tell(after, 0, "status: " + e.getMessage());
                return;
            }
        }
    }

    private CallResult inDoubt(Reason reason) {
        recordExpiry();
        return (doubt ? Optional.<CallResult>empty() : doneByOthers())
                .orElseGet(() -> new CallResult.InDoubt(call.id(), reason, doubt, told()));
    }

    /** Where nothing was sent from here: that says nothing about another sender. */
    private Optional<CallResult> doneByOthers() {
        try {
            Optional<JournaledCall> now = context.journal.find(call.id());
            JournaledCall.Sent sent = now.map(it -> it.progress().sent()).orElse(null);
            doubt = sent != null && sent.senders() > 1;
            return recorded(now);
        } catch (JournalException e) {
            doubt = true;
            return Optional.empty();
        }
    }

    private void tell(Duration after, int status, String what) {
        Attempt attempt = new Attempt(after, elapsed().minus(after), status, what);
        if (attempts.size() >= ATTEMPTS_TOLD_MAX) {
            attempts.remove(ATTEMPTS_TOLD_MAX / 2);
        }
        attempts.add(attempt);
        context.tell(listener -> listener.attempted(call.id(), attempt));
    }

    private List<Attempt> told() {
        return List.copyOf(attempts);
    }

    private Duration elapsed() {
        return Duration.ofNanos(context.time.nanos() - begun);
    }

    private Duration left() {
        return context.policy.limits().deadline().minus(elapsed());
    }

    private static Duration upTo(Duration bound) {
        return Duration.ofNanos(ThreadLocalRandom.current().nextLong(bound.toNanos() + 1));
    }

    private static Duration max(Duration one, Duration other) {
        return one.compareTo(other) > 0 ? one : other;
    }

    private static Duration min(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }
}
