package dev.onlyonce.messages.adapter;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.messages.DeadLetterReason;
import dev.onlyonce.messages.MessageDecoder;
import dev.onlyonce.messages.MessageId;
import dev.onlyonce.messages.MessageIdentity;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.messages.ReceivedMessage;

/**
 * How messages are read.
 *
 * @param group the consumer group
 * @param ids where ids come from
 * @param decoder makes values
 * @param bodyBytesMax the largest body
 */
public record MessageReader<T>(String group, MessageId ids, MessageDecoder<T> decoder, int bodyBytesMax) {

    /** Finds out what a message is, or gives it up. */
    void identify(PendingMessage<?> pending) {
        try {
            ReceivedMessage message = pending.message();
            if (message.body().length > bodyBytesMax) {
                throw new PoisonMessage(
                        DeadLetterReason.TOO_LARGE,
                        "the body has " + message.body().length + " bytes; at most " + bodyBytesMax + " are allowed",
                        null);
            }
            MessageIdentity identity = ids.require(message);
            identity.source(group);
            pending.identified(identity);
        } catch (PoisonMessage e) {
            pending.giveUp(e);
        } catch (RuntimeException | Error e) {
            // An error too, or one message would end the threads of all consumers, one after the other.
            pending.giveUp(new PoisonMessage(DeadLetterReason.UNDECODABLE, "no id can be read: " + e, e));
        }
    }

    /** The name space of a message's id. */
    String source(PendingMessage<?> pending) {
        return requireNonNull(pending.identity()).source(group);
    }

    /** Decodes a body. Only messages that were not applied before are decoded. */
    T decode(ReceivedMessage message) {
        try {
            return decoder.decode(message);
        } catch (PoisonMessage e) {
            throw e;
        } catch (Exception | StackOverflowError e) {
            throw new PoisonMessage(DeadLetterReason.UNDECODABLE, "it cannot be decoded: " + e, e);
        }
    }
}
