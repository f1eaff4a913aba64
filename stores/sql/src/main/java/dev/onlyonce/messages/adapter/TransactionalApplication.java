package dev.onlyonce.messages.adapter;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.messages.DeadLetterReason;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.messages.ReceivedMessage;
import dev.onlyonce.messages.TransactionalHandler;
import dev.onlyonce.sql.inbox.Applied;
import dev.onlyonce.sql.inbox.Inbox;
import dev.onlyonce.sql.inbox.InboxDelivery;
import dev.onlyonce.sql.inbox.InboxMessage;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Applies messages in SQL transactions: those of a topic that come for the first time in one, the others each in its own. A message that
 * fails, is locked, or hangs is slow and may be so again, so that it no longer slows its neighbours down.
 */
final class TransactionalApplication<T> implements Application {
    /** One for the batch, and the others for those that were not applied in one. */
    private static final int THREADS = 4;
    /** How many of these a thread tries before it takes newer ones, of which the same consumer may have locked all. */
    private static final int ORDERS_MAX = 8;

    private final Inbox inbox;
    private final MessageReader<T> reader;
    private final TransactionalHandler<T> handler;
    private final Duration handlerMax;

    TransactionalApplication(
            Inbox inbox, MessageReader<T> reader, TransactionalHandler<T> handler, Duration handlerMax) {
        this.inbox = inbox;
        this.reader = reader;
        this.handler = handler;
        this.handlerMax = handlerMax;
    }

    @Override
    public Duration handlerMax() {
        return handlerMax;
    }

    @Override
    public int concurrency() {
        return THREADS;
    }

    @Override
    public <R> List<Group<R>> split(List<PendingMessage<R>> due) {
        List<PendingMessage<R>> batch = new ArrayList<>();
        List<Group<R>> groups = new ArrayList<>();
        List<PendingMessage<R>> slow = new ArrayList<>();
        int orders = 0;
        for (List<PendingMessage<R>> row : rows(due)) {
            if (row.stream().noneMatch(PendingMessage::isSlow)) {
                batch.addAll(row);
            } else if (row.stream().anyMatch(PendingMessage::hasHung)) {
                groups.add(new Group<>(row, false));
            } else {
                slow.addAll(row);
                orders++;
                if (orders == ORDERS_MAX) {
                    groups.add(new Group<>(slow, false));
                    slow = new ArrayList<>();
                    orders = 0;
                }
            }
        }
        if (!slow.isEmpty()) {
            groups.add(0, new Group<>(slow, false));
        }
        if (!batch.isEmpty()) {
            groups.add(0, new Group<>(batch, true));
        }
        return groups;
    }

    /** Messages of one order, in turn; each without an order on its own. */
    static <R> List<List<PendingMessage<R>>> rows(List<PendingMessage<R>> messages) {
        Map<Object, List<PendingMessage<R>>> rows = new LinkedHashMap<>();
        for (PendingMessage<R> pending : messages) {
            Object order = pending.order();
            rows.computeIfAbsent(order == null ? pending : order, row -> new ArrayList<>())
                    .add(pending);
        }
        return List.copyOf(rows.values());
    }

    @Override
    public void apply(HandlerRun run) {
        List<? extends PendingMessage<?>> messages = run.messages();
        List<InboxDelivery> deliveries =
                messages.stream().map(pending -> delivery(pending, run)).toList();
        boolean isSlow = messages.stream().anyMatch(PendingMessage::isSlow);
        List<Applied> applied = isSlow ? inbox.applyAlone(deliveries) : inbox.applyAll(deliveries);
        for (int i = 0; i < messages.size(); i++) {
            run.answer(messages.get(i), applied.get(i));
        }
    }

    /** Its connection is cut, so nothing of it stays. But it would cost a thread each time. */
    @Override
    public Applied abandoned(String why) {
        return new Applied.Failed(new PoisonMessage(DeadLetterReason.HANDLER_HUNG, why, null));
    }

    private InboxDelivery delivery(PendingMessage<?> pending, HandlerRun run) {
        ReceivedMessage message = pending.message();
        InboxMessage name = new InboxMessage(
                reader.source(pending), requireNonNull(pending.identity()).id(), Fingerprint.of(message.body()));
        return new InboxDelivery(name, pending.order(), transaction -> {
            try {
                run.handle(
                        pending, hold(transaction), () -> handler.apply(transaction, reader.decode(message), message));
            } catch (Error e) {
                // One message's error must not end the thread that applies the others.
                throw new IllegalStateException("the handler broke: " + e, e);
            }
        });
    }

    private static HandlerRun.Hold hold(Connection transaction) {
        return new HandlerRun.Hold() {
            @Override
            public void cancel() {
                Inbox.cancel(transaction);
            }

            @Override
            public void cut() {
                Inbox.cut(transaction);
            }
        };
    }
}
