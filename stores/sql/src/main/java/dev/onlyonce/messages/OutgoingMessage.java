package dev.onlyonce.messages;

import static java.util.Objects.requireNonNullElse;

import dev.onlyonce.Key;
import dev.onlyonce.sql.outbox.OutboxCall;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * A message that is to be published when the transaction commits.
 *
 * @param destination where to, as its relay names it, e.g. a topic of Kafka
 * @param key messages with one key belong together and leave in the order in which they were accepted: the partition of Kafka, the
 *     group of SQS; null for none
 * @param type what it says, as CloudEvents name it, e.g. {@code com.example.order.paid}
 * @param contentType of the body, e.g. {@code application/json}
 * @param body not copied: do not modify it
 */
public record OutgoingMessage(String destination, byte @Nullable [] key, String type, String contentType, byte[] body) {
    /** The first byte of the stored form. */
    private static final int VERSION = 1;

    private static final byte[] NOTHING = {};

    /** Throws {@link IllegalArgumentException} if type or content type is empty, longer than 255 characters, or has control characters. */
    public OutgoingMessage {
        Key.checkName("type", type);
        Key.checkName("contentType", contentType);
    }

    /** A JSON body. */
    public static OutgoingMessage json(String destination, byte @Nullable [] key, String type, byte[] body) {
        return new OutgoingMessage(destination, key, type, "application/json", body);
    }

    /**
     * What to hand to the outbox. With a key, the message leaves after those of the same tenant with the same destination and key
     * that were accepted before it. However long it has to wait, it is not given up.
     *
     * @param relay the outbox's topic whose handler is the relay of a broker, e.g. {@code KafkaRelay.TOPIC}
     */
    public OutboxCall call(String relay) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(body.length + 100);
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(VERSION);
            out.writeUTF(destination);
            out.writeUTF(type);
            out.writeUTF(contentType);
            out.writeInt(key == null ? -1 : key.length);
            out.write(requireNonNullElse(key, NOTHING));
            out.write(body);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        OutboxCall call = new OutboxCall(relay, bytes.toByteArray()).untilTaken();
        return key == null ? call : call.inOrder(orderKey(destination, key));
    }

    /** Keys may be long, and need not be text. */
    private static String orderKey(String destination, byte[] key) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(destination.getBytes(StandardCharsets.UTF_8));
            digest.update((byte) 0);
            return HexFormat.of().formatHex(digest.digest(key));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /**
     * Reads what {@link #call} made.
     *
     * @throws IOException if it is something else
     */
    public static OutgoingMessage of(byte[] payload) throws IOException {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(payload))) {
            int version = in.readUnsignedByte();
            if (version != VERSION) {
                throw new IOException("a newer release wrote it: version " + version);
            }
            String destination = in.readUTF();
            String type = in.readUTF();
            String contentType = in.readUTF();
            int length = in.readInt();
            byte[] key = length < 0 ? null : in.readNBytes(length);
            return new OutgoingMessage(destination, key, type, contentType, in.readAllBytes());
        }
    }
}
