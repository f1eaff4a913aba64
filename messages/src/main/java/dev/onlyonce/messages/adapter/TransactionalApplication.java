package dev.onlyonce.messages.adapter;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.messages.ReceivedMessage;
import dev.onlyonce.messages.TransactionalHandler;
import dev.onlyonce.sql.inbox.Applied;
import dev.onlyonce.sql.inbox.Inbox;
import dev.onlyonce.sql.inbox.InboxDelivery;
import dev.onlyonce.sql.inbox.InboxMessage;
import java.util.List;

/** Applies a batch of messages in one SQL transaction. */
final class TransactionalApplication<T> implements Application {
    private final Inbox inbox;
    private final Reading<T> reading;
    private final TransactionalHandler<T> handler;

    TransactionalApplication(Inbox inbox, Reading<T> reading, TransactionalHandler<T> handler) {
        this.inbox = inbox;
        this.reading = reading;
        this.handler = handler;
    }

    @Override
    public List<Applied> apply(List<? extends Letter<?>> letters) {
        return inbox.applyAll(letters.stream().map(this::delivery).toList());
    }

    private InboxDelivery delivery(Letter<?> letter) {
        ReceivedMessage message = letter.message();
        InboxMessage name = new InboxMessage(
                reading.source(letter), requireNonNull(letter.identity()).id(), Fingerprint.of(message.body()));
        return new InboxDelivery(name, letter.order(), transaction -> {
            try {
                handler.apply(transaction, reading.decode(message), message);
            } catch (Error e) {
                // One message's error must not end the thread that applies the others.
                throw new IllegalStateException("the handler broke: " + e, e);
            }
        });
    }
}
