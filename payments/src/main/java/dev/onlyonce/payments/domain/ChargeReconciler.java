package dev.onlyonce.payments.domain;

import dev.onlyonce.DownstreamKey;
import dev.onlyonce.Key;
import dev.onlyonce.Reconciler;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.provider.Movement;
import dev.onlyonce.store.Entry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what became of a payment in doubt: from what the provider has told by itself, or else by asking it for the
 * downstream key. Thread-safe.
 */
public final class ChargeReconciler implements Reconciler {
    /** The operation whose entries it looks after. */
    public static final String OPERATION = "POST /payments";

    private final Database database;
    private final Payments payments;
    private final ProviderClient provider;
    private final Duration absentAfter;

    /**
     * Asks this provider.
     *
     * @param absentAfter how long a call may be on its way at most
     */
    public ChargeReconciler(Database database, Payments payments, ProviderClient provider, Duration absentAfter) {
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
        List<Movement> charges = provider.byKey("charges", downstreamKey);
        if (charges.isEmpty()) {
            return new Finding.Absent("the provider knows no charge under the downstream key");
        }
        Movement charge = charges.get(0);
        return found(payment.get(), charge.succeeded() ? Payment.SUCCEEDED : Payment.DECLINED, charge.id());
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
