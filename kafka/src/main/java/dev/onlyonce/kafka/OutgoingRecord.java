package dev.onlyonce.kafka;

import static java.util.Objects.requireNonNullElse;

import dev.onlyonce.sql.outbox.OutboxCall;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/**
 * A message that is to be published when the transaction commits.
 *
 * @param topic where to
 * @param key decides the partition; null for none
 * @param type what it says, as CloudEvents name it, e.g. {@code com.example.order.paid}
 * @param contentType of the body, e.g. {@code application/json}
 * @param body not copied: do not modify it
 */
public record OutgoingRecord(String topic, byte @Nullable [] key, String type, String contentType, byte[] body) {
    /** The first byte of the stored form. */
    private static final int VERSION = 1;

    private static final byte[] NOTHING = {};

    /** A JSON body. */
    public static OutgoingRecord json(String topic, byte @Nullable [] key, String type, byte[] body) {
        return new OutgoingRecord(topic, key, type, "application/json", body);
    }

    /** What to hand to the outbox. */
    public OutboxCall call() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(body.length + 100);
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(VERSION);
            out.writeUTF(topic);
            out.writeUTF(type);
            out.writeUTF(contentType);
            out.writeInt(key == null ? -1 : key.length);
            out.write(requireNonNullElse(key, NOTHING));
            out.write(body);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new OutboxCall(KafkaRelay.TOPIC, bytes.toByteArray());
    }

    static OutgoingRecord of(byte[] payload) throws IOException {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(payload))) {
            int version = in.readUnsignedByte();
            if (version != VERSION) {
                throw new IOException("a newer release wrote it: version " + version);
            }
            String topic = in.readUTF();
            String type = in.readUTF();
            String contentType = in.readUTF();
            int length = in.readInt();
            byte[] key = length < 0 ? null : in.readNBytes(length);
            return new OutgoingRecord(topic, key, type, contentType, in.readAllBytes());
        }
    }
}
