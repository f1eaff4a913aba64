package dev.onlyonce.sqs;

import dev.onlyonce.Codec;
import dev.onlyonce.messages.OutgoingMessage;
import dev.onlyonce.messages.adapter.CloudEvent;
import dev.onlyonce.sql.inbox.Inbox;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.DeliveryHandler;
import dev.onlyonce.sql.outbox.OutboxRow;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.SendMessageRequest;

/**
 * Publishes messages from the outbox: {@code Outbox.builder(once).handler(SqsRelay.TOPIC, relay)}. A message leaves when, and only when,
 * the transaction that accepted it commits. It may leave more than once; each time it has the same CloudEvents id, by which an {@link
 * SqsInbox} applies it once. In a FIFO queue the id is also the deduplication id, and the key is the message group. Its result is SQS's
 * id of the message, as a JSON string.
 */
public final class SqsRelay implements DeliveryHandler {
    /** The outbox's topic, whose handler this is. The queue is in the {@link OutgoingMessage}: its name or its URL. */
    public static final String TOPIC = "sqs";

    private static final Duration DELIVERY_MAX = Duration.ofSeconds(20);
    /** What SQS allows as a message group. */
    private static final Pattern GROUP = Pattern.compile("[\\x21-\\x7e]{1,128}");

    private final SqsAsyncClient client;
    private final String source;
    private final Map<String, Queue> queues = new ConcurrentHashMap<>();

    /**
     * With a client that stays the caller's.
     *
     * @param source who publishes, as CloudEvents name it; ids are unique within it
     */
    public SqsRelay(SqsAsyncClient client, String source) {
        this.client = client;
        this.source = CloudEvent.source(source);
    }

    @Override
    public Delivery deliver(OutboxRow row) throws Exception {
        OutgoingMessage outgoing = OutgoingMessage.of(row.payload());
        boolean fifo = Queue.isFifo(outgoing.destination());
        byte[] key = outgoing.key();
        if (fifo && key == null) {
            return new Delivery.Ambiguous("a message for a FIFO queue needs a key, which is its message group");
        }
        Optional<String> body = text(outgoing.body());
        if (body.isEmpty()) {
            return new Delivery.Ambiguous("SQS carries text that is not empty, in the characters of XML 1.0");
        }
        Queue queue;
        try {
            queue = find(outgoing.destination());
        } catch (TimeoutException e) {
            return new Delivery.Ambiguous("no answer within " + DELIVERY_MAX);
        } catch (ExecutionException e) {
            return failure(e, "the queue " + outgoing.destination() + " cannot be found: ");
        }
        SendMessageRequest.Builder request = SendMessageRequest.builder()
                .queueUrl(queue.url())
                .messageBody(body.get())
                .messageAttributes(attributes(outgoing, row));
        if (fifo && key != null) {
            request.messageGroupId(group(key)).messageDeduplicationId(row.downstreamKey());
        }
        return send(request.build());
    }

    private Delivery send(SendMessageRequest request) throws InterruptedException {
        try {
            String place = client.sendMessage(request)
                    .get(DELIVERY_MAX.toMillis(), TimeUnit.MILLISECONDS)
                    .messageId();
            return new Delivery.Delivered(place, Codec.json(String.class).encode(place));
        } catch (TimeoutException e) {
            return new Delivery.Ambiguous("no answer within " + DELIVERY_MAX);
        } catch (ExecutionException e) {
            return failure(e, "");
        }
    }

    /** Even if it was refused for good: the outbox would forget what is proven not to have been sent. */
    private static Delivery failure(ExecutionException e, String what) {
        return new Delivery.Ambiguous(what + ServiceFailure.cause(e));
    }

    private Queue find(String urlOrName) throws ExecutionException, InterruptedException, TimeoutException {
        Queue known = queues.get(urlOrName);
        if (known != null) {
            return known;
        }
        Queue found = Queue.find(client, urlOrName).get(DELIVERY_MAX.toMillis(), TimeUnit.MILLISECONDS);
        queues.put(urlOrName, found);
        return found;
    }

    private Map<String, MessageAttributeValue> attributes(OutgoingMessage outgoing, OutboxRow row) {
        Map<String, MessageAttributeValue> attributes = new TreeMap<>();
        CloudEvent.attributes(outgoing, row, source)
                .forEach((name, value) -> attributes.put("ce_" + name, Attributes.text(value)));
        attributes.put("content-type", Attributes.text(outgoing.contentType()));
        return attributes;
    }

    /** The body as SQS carries it; empty if it cannot. */
    private static Optional<String> text(byte[] body) {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(body))
                    .toString();
            return Attributes.isText(text) ? Optional.of(text) : Optional.empty();
        } catch (CharacterCodingException e) {
            return Optional.empty();
        }
    }

    /** The key itself if SQS allows it, else its digest: equal keys have equal groups. */
    private static String group(byte[] key) {
        String text = new String(key, StandardCharsets.ISO_8859_1);
        if (GROUP.matcher(text).matches()) {
            return text;
        }
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            return "sha256/" + HexFormat.of().formatHex(sha.digest(key));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** Consumers remember ids for this long, so a message may be published again without harm. */
    @Override
    public Duration keyLifetime() {
        return Inbox.RETENTION;
    }
}
