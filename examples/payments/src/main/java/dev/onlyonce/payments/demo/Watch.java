package dev.onlyonce.payments.demo;

import dev.onlyonce.DownstreamKey;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.domain.ChargeReconciler;
import dev.onlyonce.payments.domain.Charging;
import dev.onlyonce.payments.domain.Payment;
import dev.onlyonce.payments.domain.Payments;
import dev.onlyonce.payments.domain.ProviderClient;
import dev.onlyonce.payments.provider.Movement;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.State;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What has become of the keys that the page has sent, and what the provider's ledger has of them. */
final class Watch {
    /** More than the page shows; a look asks the store once for each. */
    static final int KEYS_MAX = 64;

    private final Onlyonce once;
    private final Database database;
    private final Payments payments;
    private final ProviderClient provider;

    /** Shows the keys of one tenant. */
    Watch(Onlyonce once, Database database, Payments payments, ProviderClient provider) {
        this.once = once;
        this.database = database;
        this.payments = payments;
        this.provider = provider;
    }

    /**
     * A look.
     *
     * @param ledger what the provider has moved for these keys
     */
    record Look(List<Seen> keys, List<Movement> ledger) {}

    /**
     * A key.
     *
     * @param state none before its first request has come
     * @param payment the payment's id, as the ledger has it; none before it is written
     */
    record Seen(
            String key, @Nullable String state, @Nullable String payment, List<Step> steps) {}

    /** A change of its state. */
    record Step(@Nullable String to, String who, String why) {}

    Look look(String tenant, List<String> keys, long since) {
        List<Seen> seen = keys.stream().map(key -> see(tenant, key)).toList();
        Set<String> payments =
                seen.stream().map(Seen::payment).filter(Objects::nonNull).collect(Collectors.toSet());
        List<Movement> ledger = provider.period(since, Long.MAX_VALUE).stream()
                .filter(movement -> payments.contains(movement.reference()))
                .toList();
        return new Look(seen, ledger);
    }

    private Seen see(String tenant, String value) {
        Key key = Key.of(tenant, ChargeReconciler.OPERATION, value);
        String downstream = DownstreamKey.of(key, Charging.TOPIC);
        List<Step> steps =
                once.operator().history(key).stream().map(Watch::step).toList();
        return new Seen(
                value,
                once.find(key).map(entry -> name(entry.state())).orElse(null),
                database.transaction(sql -> payments.byDownstreamKey(sql, downstream))
                        .map(Payment::id)
                        .orElse(null),
                steps);
    }

    private static Step step(AuditRecord record) {
        State to = record.transition().to();
        return new Step(
                to == null ? null : name(to),
                record.transition().who(),
                record.transition().why());
    }

    private static String name(State state) {
        return state.name().toLowerCase(Locale.ROOT);
    }
}
