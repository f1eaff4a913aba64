package dev.onlyonce.sql.inbox;

import dev.onlyonce.Codec;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.sql.transactions.BatchRunner;
import dev.onlyonce.sql.transactions.GuardedConnection;
import dev.onlyonce.sql.transactions.TransactionConflict;
import dev.onlyonce.sql.transactions.TransactionRunner;
import dev.onlyonce.store.EntryUnreadable;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreRejected;
import java.io.Serial;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies a batch of messages.
 *
 * <ol>
 *   <li>All in one transaction, with one statement for all claims. Most batches end here.
 *   <li>If an effect throws, an entry cannot be read or is locked, or the commit is refused: all in one transaction again, each behind a
 *       savepoint of its own, so that the one that fails is undone alone.
 *   <li>If that transaction is lost as a whole, too: each in a transaction of its own. What fails now is one message's own trouble.
 * </ol>
 *
 * <p>A message that somebody else is applying is held, and the others go on. Each wait for a lock is short, and after a few of them the rest
 * is held untried: a consumer that was frozen in its transaction has locked a whole batch.
 */
final class BatchApplication {
    private static final Logger log = LoggerFactory.getLogger(BatchApplication.class);

    private static final String POSTGRES_ABORTED = "25P02";
    /** How long to wait for a transaction that has an entry. Two consumers with one message are rare, and the message comes again. */
    private static final Duration LOCK_WAIT = Duration.ofMillis(100);
    /** How many locked entries to wait for. */
    private static final int LOCKED_MAX = 3;

    private final BatchRunner batches;
    private final TransactionRunner single;
    private final Policy policy;

    BatchApplication(BatchRunner batches, TransactionRunner single, Policy policy) {
        this.batches = batches;
        this.single = single;
        this.policy = policy.toBuilder().waitMax(LOCK_WAIT).build();
    }

    List<Applied> apply(List<InboxDelivery> deliveries) {
        if (deliveries.isEmpty()) {
            return List.of();
        }
        List<BatchRunner.Item> items =
                deliveries.stream().map(BatchApplication::item).toList();
        try {
            List<Outcome<byte[]>> outcomes = batches.execute(items, policy);
            List<Applied> applied = new ArrayList<>();
            for (int i = 0; i < outcomes.size(); i++) {
                applied.add(applied(deliveries.get(i), outcomes.get(i)));
            }
            return applied;
        } catch (BatchRunner.ActionFailed e) {
            log.debug("A message of {} failed, so they are applied one by one", items.size(), e);
        } catch (TransactionConflict | StoreBusy e) {
            log.debug("A batch of {} was rolled back because of concurrent work", items.size(), e);
        } catch (StoreRejected e) {
            log.debug("A batch of {} was refused, so the messages are applied one by one", items.size(), e);
        } catch (EntryUnreadable | IllegalArgumentException e) {
            log.debug("An entry of {} cannot be read, so the messages are applied one by one", items.size(), e);
        }
        try {
            List<Applied> applied = new ArrayList<>();
            batches.executeEach(connection ->
                    applyEach(deliveries, applied, (item, request) -> executeTogether(connection, item, request)));
            return applied;
        } catch (TransactionConflict | StoreException e) {
            log.debug("A transaction with {} messages was lost, so each gets its own", items.size(), e);
        }
        return applyAlone(deliveries);
    }

    /** Each in a transaction of its own. */
    List<Applied> applyAlone(List<InboxDelivery> deliveries) {
        List<Applied> applied = new ArrayList<>();
        List<StoreException> trouble = new ArrayList<>();
        applyEach(deliveries, applied, (item, request) -> {
            try {
                return executeAlone(item, request);
            } catch (StoreBusy | TransactionConflict e) {
                return new Outcome.InFlight<>(false, LOCK_WAIT);
            } catch (StoreException e) {
                // It may be this message's own, such as a commit that costs the connection; not if it is the next one's
                // too.
                trouble.add(e);
                if (trouble.size() > 1) {
                    throw e;
                }
                return new Outcome.InFlight<>(false, LOCK_WAIT);
            }
        });
        if (!trouble.isEmpty() && applied.stream().allMatch(Applied.Held.class::isInstance)) {
            throw trouble.get(0);
        }
        trouble.forEach(e -> log.warn("A message was not applied, and the others were", e));
        return applied;
    }

    /** In a transaction with the others. */
    private Outcome<byte[]> executeTogether(
            Connection connection, BatchRunner.Item item, TransactionRunner.Request<byte[]> request) throws Exception {
        try {
            return single.execute(connection, request, item.action());
        } catch (Exception e) {
            // The locks of its neighbours may have been in its way: it gets another chance, alone.
            Optional<TransactionConflict> conflict = batches.conflict(e);
            throw conflict.isPresent() ? conflict.get() : e;
        }
    }

    /**
     * In a transaction of its own. What the effect throws now, and what it does to the transaction, is its own trouble, whatever it looks
     * like: the database has answered.
     */
    private Outcome<byte[]> executeAlone(BatchRunner.Item item, TransactionRunner.Request<byte[]> request)
            throws Exception {
        AtomicBoolean ran = new AtomicBoolean();
        try {
            return single.execute(request, connection -> {
                try {
                    byte[] nothing = item.action().run(connection);
                    ran.set(true);
                    return nothing;
                } catch (StoreException e) {
                    throw new EffectFailed(e);
                }
            });
        } catch (EffectFailed e) {
            throw new IllegalStateException(
                    "its effect needs a store that did not answer: " + e.getCause(), e.getCause());
        } catch (StoreException e) {
            if (ran.get() && (e instanceof StoreRejected || isAborted(e))) {
                throw new IllegalStateException(
                        "the commit was refused: its effect broke a deferred constraint, ignored a failed statement, or ended the"
                                + " transaction: " + e.getCause(),
                        e);
            }
            throw e;
        }
    }

    /** Whether a statement of the transaction has failed before, after which PostgreSQL executes no other. */
    private static boolean isAborted(StoreException e) {
        return e.getCause() instanceof SQLException sql && POSTGRES_ABORTED.equals(sql.getSQLState());
    }

    /** An effect has thrown what would look like the trouble of the inbox's own database. */
    private static final class EffectFailed extends Exception {
        @Serial
        private static final long serialVersionUID = 1;

        EffectFailed(StoreException cause) {
            super(cause);
        }
    }

    private static BatchRunner.Item item(InboxDelivery delivery) {
        Inbox.Effect<?> effect = delivery.effect();
        return new BatchRunner.Item(
                Inbox.key(delivery.message()),
                Inbox.fingerprint(delivery.message()),
                Inbox.once(connection -> effect.apply(GuardedConnection.of(connection))));
    }

    /** Executes one message. */
    @FunctionalInterface
    private interface One {
        Outcome<byte[]> execute(BatchRunner.Item item, TransactionRunner.Request<byte[]> request) throws Exception;
    }

    /** Applies one after the other. Behind one that fails, those of the same order are not tried. */
    private void applyEach(List<InboxDelivery> deliveries, List<Applied> applied, One one) {
        Set<Object> held = new HashSet<>();
        int locked = 0;
        for (InboxDelivery delivery : deliveries) {
            Object order = delivery.order();
            if (locked >= LOCKED_MAX || (order != null && held.contains(order))) {
                applied.add(new Applied.Held());
                continue;
            }
            Applied answer = applyOne(delivery, one);
            locked += answer instanceof Applied.Held ? 1 : 0;
            if (order != null && (answer instanceof Applied.Failed || answer instanceof Applied.Held)) {
                held.add(order);
            }
            applied.add(answer);
        }
    }

    private Applied applyOne(InboxDelivery delivery, One one) {
        BatchRunner.Item item = item(delivery);
        try {
            return applied(
                    delivery,
                    one.execute(
                            item,
                            new TransactionRunner.Request<>(
                                    item.key(), item.fingerprint(), policy, Codec.bytes(), true)));
        } catch (EntryUnreadable e) {
            // Its own trouble: the database has answered.
            return new Applied.Failed(e);
        } catch (TransactionConflict | StoreException e) {
            // Not the message's fault, or not known to be: another round tells.
            throw e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Applied.Failed(e);
        } catch (Exception e) {
            return new Applied.Failed(e);
        }
    }

    private static Applied applied(InboxDelivery delivery, Outcome<byte[]> outcome) {
        if (outcome instanceof Outcome.Executed) {
            return new Applied.Now();
        }
        Applied answer = Applied.of(outcome);
        boolean anyContent = delivery.message().content() == null;
        return answer instanceof Applied.Mismatched && anyContent ? new Applied.Before() : answer;
    }
}
