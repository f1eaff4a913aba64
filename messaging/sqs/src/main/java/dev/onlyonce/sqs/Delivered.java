package dev.onlyonce.sqs;

import dev.onlyonce.messages.MessageHeader;
import dev.onlyonce.messages.ReceivedMessage;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;

/**
 * A message as SQS delivered it.
 *
 * @param queue its URL
 */
record Delivered(Message record, String queue) {

    /** Its attributes are headers; what FIFO queues know about it too, under the names of SQS. */
    ReceivedMessage message() {
        List<MessageHeader> headers = new ArrayList<>();
        Attributes.own(record.messageAttributes())
                .forEach((name, value) -> headers.add(new MessageHeader(name, Attributes.bytes(value))));
        addHeader(headers, MessageSystemAttributeName.MESSAGE_GROUP_ID);
        addHeader(headers, MessageSystemAttributeName.MESSAGE_DEDUPLICATION_ID);
        byte[] body = record.body().getBytes(StandardCharsets.UTF_8);
        return new ReceivedMessage(Queue.name(queue), record.messageId(), headers, body);
    }

    private void addHeader(List<MessageHeader> headers, MessageSystemAttributeName name) {
        String value = record.attributes().get(name);
        if (value != null) {
            headers.add(new MessageHeader(name.toString(), value.getBytes(StandardCharsets.UTF_8)));
        }
    }

    /** A FIFO queue keeps messages of one group in order. */
    @Nullable
    Object order() {
        return Queue.isFifo(queue) ? record.attributes().get(MessageSystemAttributeName.MESSAGE_GROUP_ID) : null;
    }

    /** How often it was delivered before, as far as SQS knows. */
    int triesBefore() {
        String count = record.attributes().get(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT);
        return count == null ? 0 : Math.max(0, Integer.parseInt(count) - 1);
    }
}
