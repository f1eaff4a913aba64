package dev.onlyonce.store;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * How results are laid out in the store, in every store alike: one byte format, one byte kind, the payload. Format 1 is
 * fixed: a later release may add a format and still reads this one.
 */
public final class Envelope {
    /** What an envelope adds to a result. A store takes this much more than its {@link StoreLimits#resultBytesMax}. */
    public static final int HEADER_BYTES = 2;

    private static final byte FORMAT = 1;

    private Envelope() {}

    /** The content of an envelope. */
    public sealed interface Content {
        /** The operation's encoded result. */
        record Value(byte[] bytes) implements Content {}

        /** A final failure, or why there is no value. */
        record Failed(Failure failure) implements Content {}
    }

    /** Wraps an encoded result. */
    public static byte[] value(byte[] bytes) {
        return wrap('V', bytes);
    }

    /** Wraps a failure. */
    public static byte[] failure(Failure failure) {
        byte[] code = failure.code().getBytes(StandardCharsets.UTF_8);
        byte[] message = failure.message().getBytes(StandardCharsets.UTF_8);
        return wrap(
                'F',
                ByteBuffer.allocate(Integer.BYTES + code.length + message.length)
                        .putInt(code.length)
                        .put(code)
                        .put(message)
                        .array());
    }

    private static byte[] wrap(char kind, byte[] payload) {
        return ByteBuffer.allocate(HEADER_BYTES + payload.length)
                .put(FORMAT)
                .put((byte) kind)
                .put(payload)
                .array();
    }

    /**
     * Reads the result of an answered entry. An answered entry without a result is a pending one that nobody
     * took.
     *
     * @throws EntryUnreadable if it cannot be read here: it is sealed, or a newer release wrote it
     */
    public static Content open(byte @Nullable [] envelope) {
        if (envelope == null) {
            return new Content.Failed(
                    new Failure(Failure.PENDING_EXPIRED, "Nobody took it in time; it was not executed"));
        }
        if (Encryption.isSealed(envelope)) {
            throw new EntryUnreadable(
                    "The stored result was sealed with key " + Encryption.keyOf(envelope)
                            + " and could not be opened: configure that key",
                    null);
        }
        if (envelope.length < HEADER_BYTES || envelope[0] != FORMAT) {
            throw new EntryUnreadable(
                    "The stored result has an unknown format; was it written by a newer release?", null);
        }
        byte[] payload = Arrays.copyOfRange(envelope, HEADER_BYTES, envelope.length);
        return switch (envelope[1]) {
            case 'V' -> new Content.Value(payload);
            case 'F' -> new Content.Failed(readFailure(ByteBuffer.wrap(payload)));
            default ->
                throw new EntryUnreadable(
                        "The stored result has an unknown kind; was it written by a newer release?", null);
        };
    }

    private static Failure readFailure(ByteBuffer payload) {
        byte[] code = new byte[payload.getInt()];
        payload.get(code);
        return new Failure(
                new String(code, StandardCharsets.UTF_8),
                StandardCharsets.UTF_8.decode(payload).toString());
    }
}
