package dev.onlyonce.sqs;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.GetQueueUrlResponse;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;

/** A queue, and the calls that a consumer makes. Any number of threads. */
final class Queue {
    /** SQS allows this many messages in a request. */
    static final int REQUEST_MAX = 10;
    /** The longest visibility timeout of SQS. */
    static final Duration VISIBILITY_MAX = Duration.ofHours(12);

    private static final String FIFO = ".fifo";

    private static final Logger log = LoggerFactory.getLogger(Queue.class);

    private final SqsAsyncClient client;
    private final String url;

    private Queue(SqsAsyncClient client, String url) {
        this.client = client;
        this.url = url;
    }

    /**
     * A delivered message, and for how long nobody else is to get it.
     *
     * @param receipt SQS's name for the delivery
     */
    record Visibility(String receipt, Duration hidden) {
        /** Whole seconds, and not less than was asked for. */
        private int seconds() {
            Duration bounded = hidden.compareTo(VISIBILITY_MAX) > 0 ? VISIBILITY_MAX : hidden;
            return (int) bounded.plusMillis(999).toSeconds();
        }
    }

    /** Finds a queue by its URL or its name. */
    static CompletableFuture<Queue> find(SqsAsyncClient client, String urlOrName) {
        return urlOrName.contains("://")
                ? CompletableFuture.completedFuture(new Queue(client, urlOrName))
                : client.getQueueUrl(request -> request.queueName(urlOrName))
                        .thenApply(GetQueueUrlResponse::queueUrl)
                        .thenApply(found -> new Queue(client, found));
    }

    /** The name in a URL, or the name itself. */
    static String name(String urlOrName) {
        return urlOrName.substring(urlOrName.lastIndexOf('/') + 1);
    }

    static boolean isFifo(String urlOrName) {
        return urlOrName.endsWith(FIFO);
    }

    /** The URL or name of the queue whose name has a suffix; FIFO queues keep the end of their names. */
    static String withSuffix(String urlOrName, String suffix) {
        return isFifo(urlOrName)
                ? urlOrName.substring(0, urlOrName.length() - FIFO.length()) + suffix + FIFO
                : urlOrName + suffix;
    }

    String url() {
        return url;
    }

    /**
     * Receives messages with all their attributes.
     *
     * @param max at most {@value #REQUEST_MAX}
     * @param wait how long to wait for the first; whole seconds
     */
    CompletableFuture<List<Message>> receive(int max, Duration wait, Duration hidden) {
        return client.receiveMessage(request -> request.queueUrl(url)
                        .maxNumberOfMessages(max)
                        .waitTimeSeconds((int) wait.toSeconds())
                        .visibilityTimeout(new Visibility("", hidden).seconds())
                        .messageAttributeNames("All")
                        .messageSystemAttributeNames(MessageSystemAttributeName.ALL))
                .thenApply(ReceiveMessageResponse::messages);
    }

    /** Deletes messages. A message that cannot be deleted is logged; it is delivered again. Never fails. */
    CompletableFuture<Void> delete(List<String> receipts) {
        return inChunks("deleted", receipts, chunk -> {
            List<DeleteMessageBatchRequestEntry> entries = new ArrayList<>();
            for (String receipt : chunk) {
                String id = String.valueOf(entries.size());
                entries.add(DeleteMessageBatchRequestEntry.builder()
                        .id(id)
                        .receiptHandle(receipt)
                        .build());
            }
            return client.deleteMessageBatch(request -> request.queueUrl(url).entries(entries))
                    .thenApply(answer -> answer.failed());
        });
    }

    /** Changes when messages are delivered again. One that cannot be changed is logged; it keeps its time. Never fails. */
    CompletableFuture<Void> hide(List<Visibility> messages) {
        return inChunks("hidden", messages, chunk -> {
            List<ChangeMessageVisibilityBatchRequestEntry> entries = new ArrayList<>();
            for (Visibility message : chunk) {
                String id = String.valueOf(entries.size());
                entries.add(ChangeMessageVisibilityBatchRequestEntry.builder()
                        .id(id)
                        .receiptHandle(message.receipt)
                        .visibilityTimeout(message.seconds())
                        .build());
            }
            return client.changeMessageVisibilityBatch(
                            request -> request.queueUrl(url).entries(entries))
                    .thenApply(answer -> answer.failed());
        });
    }

    private <E> CompletableFuture<Void> inChunks(
            String what, List<E> all, Function<List<E>, CompletableFuture<List<BatchResultErrorEntry>>> call) {
        List<CompletableFuture<?>> calls = new ArrayList<>();
        for (int from = 0; from < all.size(); from += REQUEST_MAX) {
            List<E> chunk = all.subList(from, Math.min(all.size(), from + REQUEST_MAX));
            calls.add(call.apply(chunk).handle((failed, thrown) -> {
                if (thrown != null) {
                    log.warn("{}: {} messages could not be {}", url, chunk.size(), what, thrown);
                } else {
                    failed.forEach(entry ->
                            log.info("{}: a message could not be {}: {} {}", url, what, entry.code(), entry.message()));
                }
                return null;
            }));
        }
        return CompletableFuture.allOf(calls.toArray(new CompletableFuture<?>[0]));
    }
}
