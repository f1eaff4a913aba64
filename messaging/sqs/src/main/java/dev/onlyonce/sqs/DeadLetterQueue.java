package dev.onlyonce.sqs;

import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.messages.adapter.DeadLetterHeaders;
import dev.onlyonce.messages.adapter.DeadLetters;
import dev.onlyonce.messages.adapter.PendingMessage;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.SendMessageRequest;
import software.amazon.awssdk.services.sqs.model.SendMessageResponse;

/**
 * Where messages go that are given up: as they came, with the reason in attributes. A message that is too large to get more attributes
 * goes without a reason, because its body would be lost otherwise. Used by one thread alone.
 */
final class DeadLetterQueue implements DeadLetters<Message> {
    /** Has the message's own attributes, if there is no room for all of them and the reason. */
    static final String ATTRIBUTES = DeadLetterHeaders.PREFIX + "attributes";
    /** SQS's id of the message. */
    static final String MESSAGE_ID = DeadLetterHeaders.PREFIX + "message-id";

    private static final Logger log = LoggerFactory.getLogger(DeadLetterQueue.class);

    private final SqsAsyncClient client;
    private final String urlOrName;
    private final String group;

    DeadLetterQueue(SqsAsyncClient client, String urlOrName, String group) {
        this.client = client;
        this.urlOrName = urlOrName;
        this.group = group;
    }

    /** Says at the start what would otherwise be found out in the middle of the night. */
    void check() {
        try {
            Queue.find(client, urlOrName).join();
        } catch (RuntimeException e) {
            log.error(
                    "The dead-letter queue {} cannot be found. Messages that are given up wait until it can",
                    urlOrName,
                    e);
        }
    }

    @Override
    public Set<PendingMessage<Message>> send(Map<PendingMessage<Message>, PoisonMessage> messages) {
        Queue queue;
        try {
            queue = Queue.find(client, urlOrName).join();
        } catch (CompletionException e) {
            log.error("{} dead letters wait: the queue {} cannot be found", messages.size(), urlOrName, e);
            return new HashSet<>();
        }
        Map<PendingMessage<Message>, CompletableFuture<Boolean>> sent = new HashMap<>();
        messages.forEach((pending, why) -> sent.put(pending, send(queue, pending, why)));
        Set<PendingMessage<Message>> there = new HashSet<>();
        sent.forEach((pending, answer) -> {
            if (answer.join()) {
                there.add(pending);
            }
        });
        return there;
    }

    private CompletableFuture<Boolean> send(Queue queue, PendingMessage<Message> pending, PoisonMessage why) {
        Map<String, MessageAttributeValue> own = pending.record().messageAttributes();
        return send(queue, pending, withReason(pending, why))
                .exceptionallyCompose(thrown -> {
                    if (!ServiceFailure.isRefused(thrown)) {
                        return CompletableFuture.failedFuture(thrown);
                    }
                    log.warn(
                            "The dead letter {} is sent without its reason, which is {}, {}",
                            pending.message().coordinates(),
                            why.reason(),
                            why.getMessage(),
                            thrown);
                    return send(queue, pending, own);
                })
                .handle((answer, thrown) -> {
                    if (thrown != null) {
                        log.error(
                                "The dead letter {} could not be sent and is tried again",
                                pending.message().coordinates(),
                                thrown);
                    }
                    return thrown == null;
                });
    }

    private CompletableFuture<SendMessageResponse> send(
            Queue queue, PendingMessage<Message> pending, Map<String, MessageAttributeValue> attributes) {
        Message message = pending.record();
        SendMessageRequest.Builder request = SendMessageRequest.builder()
                .queueUrl(queue.url())
                .messageBody(message.body())
                .messageAttributes(attributes);
        if (Queue.isFifo(queue.url())) {
            String order = message.attributes().get(MessageSystemAttributeName.MESSAGE_GROUP_ID);
            request.messageGroupId(order == null ? message.messageId() : order)
                    .messageDeduplicationId(message.messageId());
        }
        return client.sendMessage(request.build());
    }

    private Map<String, MessageAttributeValue> withReason(PendingMessage<Message> pending, PoisonMessage why) {
        Map<String, MessageAttributeValue> reason = new LinkedHashMap<>();
        DeadLetterHeaders.of(pending, why, group).forEach((name, text) -> reason.put(name, Attributes.text(text)));
        reason.put(MESSAGE_ID, Attributes.text(pending.record().messageId()));
        // It may have been a dead letter before.
        Map<String, MessageAttributeValue> own = Attributes.own(pending.record().messageAttributes());
        if (own.size() + reason.size() > Attributes.MAX) {
            reason.put(ATTRIBUTES, Attributes.folded(own));
        } else {
            reason.putAll(own);
        }
        return reason;
    }

    /** The client is the application's. */
    @Override
    public void close() {}
}
