package dev.onlyonce.http;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The record of a response: its status, the header lines that may be sent again, and its body, or the fact that the body was
 * too large. Reconcilers make one with {@link #of} and {@link #encode} when they find out what the answer was.
 *
 * <p>Format 1, which never changes; a later release adds a format and goes on reading this one:
 *
 * <pre>
 * 'H'  1  flags (1: the body is there)  status (2 bytes)  number of header lines (2 bytes)
 * for each line: length of its name (2 bytes), name, length of its value (4 bytes), value; both UTF-8
 * body, to the end
 * </pre>
 *
 * @param status the status code
 * @param headers the stored header lines
 * @param body the body; empty if it was too large to store
 */
public record StoredResponse(int status, Headers headers, Optional<byte[]> body) {
    private static final byte MAGIC = 'H';
    private static final byte FORMAT = 1;
    private static final byte WITH_BODY = 1;
    private static final int HEAD_BYTES = 7;

    /** What of an answer is stored. */
    public static StoredResponse of(HttpAnswer answer) {
        return new StoredResponse(answer.status(), StoredHeaders.of(answer.headers()), Optional.of(answer.body()));
    }

    /** The bytes to store for an answer: without its body if they would be more than {@code bytesMax}. */
    public static byte[] encode(HttpAnswer answer, int bytesMax) {
        if (answer.body().length <= bytesMax) {
            byte[] whole = of(answer).encode();
            if (whole.length <= bytesMax) {
                return whole;
            }
        }
        return withoutBody(answer.status(), answer.headers()).encode();
    }

    /** What is stored of an answer whose body is too large: the status, and where to find what was made. */
    static StoredResponse withoutBody(int status, Headers headers) {
        Headers kept = StoredHeaders.of(headers).only(field -> field.is("Location"));
        return new StoredResponse(status, kept, Optional.empty());
    }

    /** To bytes. */
    public byte[] encode() {
        List<byte[]> parts = new ArrayList<>();
        int size = HEAD_BYTES;
        for (Headers.Field field : headers.fields()) {
            byte[] name = field.name().getBytes(StandardCharsets.UTF_8);
            byte[] value = field.value().getBytes(StandardCharsets.UTF_8);
            parts.add(name);
            parts.add(value);
            size += Short.BYTES + name.length + Integer.BYTES + value.length;
        }
        ByteBuffer buffer =
                ByteBuffer.allocate(size + body.map(bytes -> bytes.length).orElse(0));
        buffer.put(MAGIC).put(FORMAT).put(body.isPresent() ? WITH_BODY : 0);
        buffer.putShort((short) status).putShort((short) headers.fields().size());
        for (int i = 0; i < parts.size(); i += 2) {
            buffer.putShort((short) parts.get(i).length).put(parts.get(i));
            buffer.putInt(parts.get(i + 1).length).put(parts.get(i + 1));
        }
        body.ifPresent(buffer::put);
        return buffer.array();
    }

    /**
     * From bytes; empty if they are no response, because the entry was settled by something other than an HTTP boundary.
     *
     * @throws IllegalStateException if a newer release wrote it, or if it is damaged
     */
    public static Optional<StoredResponse> decode(byte[] bytes) {
        if (bytes.length < 2 || bytes[0] != MAGIC) {
            return Optional.empty();
        }
        if (bytes[1] != FORMAT) {
            throw new IllegalStateException(
                    "The stored response has format " + bytes[1] + "; was it written by a newer release?");
        }
        try {
            return Optional.of(read(ByteBuffer.wrap(bytes, 2, bytes.length - 2)));
        } catch (BufferUnderflowException e) {
            throw new IllegalStateException("The stored response is damaged: it ends too early", e);
        }
    }

    private static StoredResponse read(ByteBuffer buffer) {
        boolean withBody = (buffer.get() & WITH_BODY) != 0;
        int status = buffer.getShort();
        int lines = Short.toUnsignedInt(buffer.getShort());
        List<Headers.Field> fields = new ArrayList<>();
        for (int i = 0; i < lines; i++) {
            String name = text(buffer, Short.toUnsignedInt(buffer.getShort()));
            fields.add(new Headers.Field(name, text(buffer, buffer.getInt())));
        }
        if (!withBody) {
            return new StoredResponse(status, new Headers(fields), Optional.empty());
        }
        byte[] body = new byte[buffer.remaining()];
        buffer.get(body);
        return new StoredResponse(status, new Headers(fields), Optional.of(body));
    }

    private static String text(ByteBuffer buffer, int length) {
        if (length < 0 || length > buffer.remaining()) {
            throw new BufferUnderflowException();
        }
        String text =
                new String(buffer.array(), buffer.arrayOffset() + buffer.position(), length, StandardCharsets.UTF_8);
        buffer.position(buffer.position() + length);
        return text;
    }
}
