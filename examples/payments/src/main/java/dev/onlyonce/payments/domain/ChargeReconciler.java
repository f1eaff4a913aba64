package dev.onlyonce.payments.domain;

import dev.onlyonce.DownstreamKey;
import dev.onlyonce.Key;
import dev.onlyonce.Reconciler;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.provider.Movement;
import dev.onlyonce.spring.Reconciles;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.store.Entry;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what became of a payment in doubt: from what the provider has told by itself, or else by asking it for the
 * downstream key. Thread-safe.
 */
@Reconciles(ChargeReconciler.OPERATION)
public final class ChargeReconciler implements Reconciler {
    /** The operation whose entries it looks after. */
    public static final String OPERATION = "POST /payments";

    private final Supplier<Outbox> outbox;
    private final Database database;
    private final Payments payments;
    private final ProviderClient provider;
    private final Duration absentAfter;

    /**
     * Asks this provider.
     *
     * @param outbox whose workers make the calls
     * @param absentAfter how long a call may be on its way at most
     */
    public ChargeReconciler(
            Supplier<Outbox> outbox,
            Database database,
            Payments payments,
            ProviderClient provider,
            Duration absentAfter) {
        this.outbox = outbox;
        this.database = database;
        this.payments = payments;
        this.provider = provider;
        this.absentAfter = absentAfter;
    }

    @Override
    public Finding reconcile(Entry unknown) {
        Key key =
                Key.of(unknown.id().tenant(), unknown.operation(), unknown.id().key());
        String downstreamKey = DownstreamKey.of(key, Charging.TOPIC);
        Optional<Payment> payment = database.transaction(sql -> payments.byDownstreamKey(sql, downstreamKey));
        if (payment.isEmpty()) {
            return new Finding.CannotTell("there is no payment for it");
        }
        String said = payment.get().providerSaid();
        if (said != null) {
            return found(payment.get(), said, payment.get().providerId());
        }
        // Before the ledger is asked: a row that dies after that was not seen dead, and the next look will tell.
        boolean underWay = outbox.get().find(key).filter(row -> !row.dead()).isPresent();
        Optional<Movement> charge =
                provider.made("charges", downstreamKey, payment.get().id());
        if (charge.isPresent()) {
            String status = charge.get().succeeded() ? Payment.SUCCEEDED : Payment.DECLINED;
            return found(payment.get(), status, charge.get().id());
        }
        return underWay
                ? new Finding.CannotTell("a worker still asks the provider for it")
                : new Finding.Absent("the provider knows no charge under the downstream key");
    }

    private static Finding found(Payment payment, String status, @Nullable String providerId) {
        // As it was answered then: a refund that came later is no part of it.
        return new Finding.Found(PaymentAnswer.record(PaymentAnswer.of(payment.ended(status, providerId))));
    }

    @Override
    public Duration absentAfter() {
        return absentAfter;
    }
}
