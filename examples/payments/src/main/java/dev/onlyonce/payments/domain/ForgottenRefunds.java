package dev.onlyonce.payments.domain;

import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.provider.Movement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends refunds whose client does not come back: as the provider's ledger has them, or, when it has none and nobody has asked
 * for long, as given up. A client that comes back after that is told so. It may run on several nodes at once. Thread-safe.
 */
public final class ForgottenRefunds {
    /** Far longer than a call may be on its way, and than a client goes on trying. */
    private static final Duration GIVE_UP_AFTER = Duration.ofDays(1);

    private static final int PAGE = 100;
    private static final Logger log = LoggerFactory.getLogger(ForgottenRefunds.class);

    private final Database database;
    private final Refunding.Tables tables;
    private final ProviderClient provider;
    private final Duration quiet;
    private final InstantSource clock;

    /**
     * Looks after the refunds of these tables.
     *
     * @param quiet how long a refund must have been idle: one that somebody works on is left alone
     */
    public ForgottenRefunds(
            Database database, Refunding.Tables tables, ProviderClient provider, Duration quiet, InstantSource clock) {
        this.database = database;
        this.tables = tables;
        this.provider = provider;
        this.quiet = quiet;
        this.clock = clock;
    }

    /** Looks once at all of them. What cannot be told now is left for the next time. */
    public void run() {
        try {
            String after = "";
            List<Refunds.Open> page;
            do {
                page = page(after);
                for (Refunds.Open open : page) {
                    endAlone(open);
                    after = open.refund().id();
                }
            } while (page.size() == PAGE);
        } catch (Database.Unavailable | ProviderClient.NoAnswer e) {
            log.debug("Forgotten refunds are left for the next time: {}", e.toString());
        }
    }

    private List<Refunds.Open> page(String after) {
        long quietSince = clock.millis() - quiet.toMillis();
        return database.transaction(sql -> tables.refunds().open(sql, quietSince, after, PAGE));
    }

    /** The trouble of one refund does not keep the others. */
    private void endAlone(Refunds.Open open) {
        try {
            end(open);
        } catch (Database.Unavailable | ProviderClient.NoAnswer e) {
            throw e;
        } catch (RuntimeException e) {
            log.warn("Refund {} is left for the next time", open.refund().id(), e);
        }
    }

    private void end(Refunds.Open open) {
        Refund refund = open.refund();
        Optional<Movement> made = provider.made("refunds", open.downstreamKey(), refund.id());
        boolean abandoned = clock.millis() - open.quietSince() > GIVE_UP_AFTER.toMillis();
        if (made.isEmpty() && !abandoned) {
            return;
        }
        database.transaction(sql -> {
            if (made.isPresent()) {
                tables.decide(sql, refund, made.get());
            } else if (tables.refunds().giveUp(sql, open)) {
                tables.payments().releaseRefund(sql, refund.paymentId(), refund.amount());
            }
            return true;
        });
    }
}
