package dev.onlyonce.spring;

import dev.onlyonce.messages.DeadLetterReason;
import dev.onlyonce.messages.PoisonMessage;
import java.io.Serial;
import org.springframework.messaging.converter.MessageConversionException;

/**
 * A message that can never be applied has come to an {@link Idempotent} listener. Spring's error handlers for Kafka and RabbitMQ do not
 * try a message again that cannot be converted, and this is such an exception: it goes to the dead letters at once.
 */
public final class UnusableMessage extends MessageConversionException {
    @Serial
    private static final long serialVersionUID = 1;

    private final DeadLetterReason reason;

    public UnusableMessage(PoisonMessage poison) {
        super(poison.reason().code() + ": " + poison.getMessage(), poison);
        this.reason = poison.reason();
    }

    /** Why it cannot be applied. */
    public DeadLetterReason reason() {
        return reason;
    }
}
