package dev.onlyonce.payments.provider;

import dev.onlyonce.payments.faults.Chances;
import dev.onlyonce.store.Time;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Makes charges and refunds, with the faults in their places: delay, failures before, the movement, its webhooks, failures
 * after.
 */
final class Charging {
    /** A card that is always declined; all others are fine unless a fault strikes. */
    static final String DECLINED_SOURCE = "tok_declined";
    /** A card after whose charge the process that asked dies, before it hears so. */
    static final String DEADLY_SOURCE = "tok_caller_dies";

    private final Ledger ledger;
    private final Webhooks webhooks;
    private final Time time;
    private final Duration keyLifetime;
    private final Map<String, Integer> attempts = Collections.synchronizedMap(new Attempts());
    private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();
    private final Runnable callerDies;
    private volatile Faults faults;

    /** Keeps the latest calls: a client that has not retried after this many others will not retry. */
    private static final class Attempts extends LinkedHashMap<String, Integer> {
        private static final long serialVersionUID = 1;
        private static final int MAX = 100_000;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Integer> eldest) {
            return size() > MAX;
        }
    }

    Charging(Ledger ledger, Webhooks webhooks, Time time, ProviderOptions options) {
        this.ledger = ledger;
        this.webhooks = webhooks;
        this.time = time;
        this.keyLifetime = options.keyLifetime();
        this.faults = options.faults();
        this.callerDies = options.callerDies();
    }

    void faults(Faults faults) {
        this.faults = faults;
    }

    Faults faults() {
        return faults;
    }

    Map<String, Long> counts() {
        Map<String, Long> sums = new TreeMap<>();
        counts.forEach((what, count) -> sums.put(what, count.sum()));
        return sums;
    }

    Answer make(String kind, @Nullable String key, Order order)
            throws SQLException, Provider.Refused, InterruptedException {
        count("requests");
        Faults now = faults;
        String about = kind + " " + (key == null ? order.reference() : key);
        int attempt = attempts.merge(about, 1, Integer::sum);
        if (strikes(now, Fault.DELAY, about, attempt)) {
            time.await(new CompletableFuture<>(), now.delay(Fault.DELAY, about, attempt));
        }
        if (strikes(now, Fault.RESET_BEFORE, about, attempt)) {
            return Answer.never(Answer.Fate.RESET);
        }
        if (strikes(now, Fault.ERROR_BEFORE, about, attempt)) {
            return internalError();
        }
        Answer answer = book(movement(kind, key, order, now), order, now);
        if (strikes(now, Fault.RESET_AFTER, about, attempt)) {
            return Answer.never(Answer.Fate.RESET);
        }
        if (strikes(now, Fault.DROP_AFTER, about, attempt)) {
            return Answer.never(Answer.Fate.DROPPED);
        }
        return strikes(now, Fault.ERROR_AFTER, about, attempt) ? internalError() : answer;
    }

    Answer lookUp(String kind, String key) throws SQLException {
        String about = "look-up " + kind + " " + key;
        return strikes(faults, Fault.LOOKUP_ERROR, about, attempts.merge(about, 1, Integer::sum))
                ? internalError()
                : Answer.ok(Map.of("data", ledger.byKey(kind, key)));
    }

    private static Answer internalError() {
        return Answer.of(500, Map.of("error", "internal error"));
    }

    private Answer book(Movement movement, Order order, Faults now) throws SQLException, Provider.Refused {
        Ledger.Made made = ledger.make(movement, order.toString(), keyLifetime);
        if (made instanceof Ledger.Made.OtherRequest) {
            throw new Provider.Refused(422, "the key was used for another request");
        }
        if (made instanceof Ledger.Made.Before before) {
            count("replays");
            return answer(before.movement());
        }
        Movement done = ((Ledger.Made.Now) made).movement();
        count(done.kind() + "s_" + done.status());
        if (DEADLY_SOURCE.equals(order.source())) {
            count("caller_dies");
            callerDies.run();
            return Answer.never(Answer.Fate.DROPPED);
        }
        webhooks.tell(done, now);
        return answer(done);
    }

    private static Answer answer(Movement movement) {
        return Answer.of(movement.succeeded() ? 201 : 402, movement);
    }

    private Movement movement(String kind, @Nullable String key, Order order, Faults now)
            throws SQLException, Provider.Refused {
        if (order.amount() <= 0) {
            throw new Provider.Refused(400, "amount must be positive");
        }
        String reference = required("reference", order.reference());
        long at = time.now().toEpochMilli();
        if (kind.equals("charge")) {
            String currency = required("currency", order.currency());
            boolean declined = DECLINED_SOURCE.equals(order.source())
                    // Attempt 0: the same answer however often it is asked.
                    || strikes(now, Fault.DECLINE, key == null ? reference : key, 0);
            String status = declined ? Movement.DECLINED : Movement.SUCCEEDED;
            return new Movement("", kind, status, order.amount(), currency, reference, null, key, at);
        }
        String chargeId = required("charge_id", order.chargeId());
        Movement charge = ledger.find(chargeId)
                .filter(Movement::succeeded)
                .orElseThrow(() -> new Provider.Refused(404, "there is no successful charge " + chargeId));
        // Two refunds at once may both pass; the ledger is a simulation's, and its callers keep their own balance.
        boolean tooMuch = ledger.refunded(chargeId) + order.amount() > charge.amount()
                && (key == null || ledger.byKey(kind, key).isEmpty());
        String status = tooMuch ? Movement.DECLINED : Movement.SUCCEEDED;
        return new Movement("", kind, status, order.amount(), charge.currency(), reference, chargeId, key, at);
    }

    private static String required(String name, @Nullable String value) throws Provider.Refused {
        if (value == null || value.isBlank()) {
            throw new Provider.Refused(400, name + " is missing");
        }
        return value;
    }

    private boolean strikes(Faults now, Fault fault, String about, int attempt) {
        boolean strikes = now.strikes(fault, about, attempt);
        if (strikes) {
            count(Chances.name(fault));
        }
        return strikes;
    }

    private void count(String what) {
        counts.computeIfAbsent(what, name -> new LongAdder()).increment();
    }
}
