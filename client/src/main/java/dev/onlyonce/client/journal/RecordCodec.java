package dev.onlyonce.client.journal;

import dev.onlyonce.client.CallBody;
import dev.onlyonce.client.CallRequest;
import dev.onlyonce.client.CallResponse;
import dev.onlyonce.client.JournaledCall;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Calls and answers as bytes. Both journals store them in this form. */
final class RecordCodec {
    /** More of an answer is not kept. The status tells the outcome. */
    static final int ANSWER_BYTES_MAX = 16 * 1024;

    private static final byte VERSION = 1;
    private static final long NEVER = Long.MIN_VALUE;
    /** Those that tell what the answer means or where its result is. */
    private static final Set<String> KEPT = Set.of(
            "content-type",
            "location",
            "etag",
            "idempotent-replayed",
            "idempotency-key-expires",
            "retry-after",
            "request-id");

    private RecordCodec() {}

    /** All of a call but its answer. */
    static byte[] encode(JournaledCall call) {
        return bytes(out -> {
            out.writeByte(VERSION);
            text(out, call.id());
            text(out, call.key());
            out.writeLong(call.progress().createdAt().toEpochMilli());
            Instant sentAt = call.progress().sentAt();
            out.writeLong(sentAt == null ? NEVER : sentAt.toEpochMilli());
            CallRequest request = call.request();
            text(out, request.method());
            text(out, request.uri().toString());
            out.writeInt(request.headers().size());
            for (Map.Entry<String, String> header : request.headers().entrySet()) {
                text(out, header.getKey());
                text(out, header.getValue());
            }
            if (request.body() instanceof CallBody.Bytes body) {
                out.writeByte(0);
                block(out, body.bytes());
            } else if (request.body() instanceof CallBody.InFile body) {
                out.writeByte(1);
                text(out, body.file().toString());
                out.writeLong(body.length());
                text(out, body.sha256());
            }
        });
    }

    /**
     * The call, and what became of it since it was recorded.
     *
     * @param sentLater null if it was not sent, or when it was recorded
     */
    static JournaledCall decode(
            byte[] bytes, @Nullable Instant sentLater, @Nullable Instant keyExpiresAt, @Nullable CallResponse answer) {
        return read(bytes, in -> {
            String id = text(in);
            String key = text(in);
            Instant createdAt = Instant.ofEpochMilli(in.readLong());
            long sent = in.readLong();
            Instant sentAt = sentLater != null ? sentLater : sent == NEVER ? null : Instant.ofEpochMilli(sent);
            String method = text(in);
            URI uri = URI.create(text(in));
            Map<String, String> headers = new LinkedHashMap<>();
            for (int count = in.readInt(); count > 0; count--) {
                headers.put(text(in), text(in));
            }
            CallBody body = in.readByte() == 0
                    ? CallBody.of(block(in))
                    : new CallBody.InFile(Path.of(text(in)), in.readLong(), text(in));
            return new JournaledCall(
                    id,
                    key,
                    new CallRequest(method, uri, headers, body),
                    new JournaledCall.Progress(createdAt, sentAt, keyExpiresAt, answer));
        });
    }

    /** Status, a few headers, and the body up to a bound. */
    static byte[] encode(CallResponse answer) {
        boolean fits = answer.body().length <= ANSWER_BYTES_MAX;
        Map<String, List<String>> kept = new LinkedHashMap<>();
        answer.headers().forEach((name, values) -> {
            if (KEPT.contains(name.toLowerCase(Locale.ROOT))
                    && String.join("", values).length() <= ANSWER_BYTES_MAX) {
                kept.put(name, values);
            }
        });
        return bytes(out -> {
            out.writeByte(VERSION);
            out.writeInt(answer.status());
            out.writeBoolean(answer.isWhole() && fits);
            out.writeInt(kept.size());
            for (Map.Entry<String, List<String>> header : kept.entrySet()) {
                text(out, header.getKey());
                out.writeInt(header.getValue().size());
                for (String value : header.getValue()) {
                    text(out, value);
                }
            }
            block(out, fits ? answer.body() : new byte[0]);
        });
    }

    static CallResponse decodeAnswer(byte[] bytes) {
        return read(bytes, in -> {
            int status = in.readInt();
            boolean whole = in.readBoolean();
            Map<String, List<String>> headers = new LinkedHashMap<>();
            for (int count = in.readInt(); count > 0; count--) {
                String name = text(in);
                List<String> values = new ArrayList<>();
                for (int lines = in.readInt(); lines > 0; lines--) {
                    values.add(text(in));
                }
                headers.put(name, values);
            }
            return new CallResponse(status, headers, block(in), whole);
        });
    }

    static void text(DataOutputStream out, String text) throws IOException {
        block(out, text.getBytes(StandardCharsets.UTF_8));
    }

    static String text(DataInputStream in) throws IOException {
        return new String(block(in), StandardCharsets.UTF_8);
    }

    private static void block(DataOutputStream out, byte[] bytes) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private static byte[] block(DataInputStream in) throws IOException {
        int length = in.readInt();
        if (length < 0 || length > in.available()) {
            throw new IOException("a length of " + length);
        }
        return in.readNBytes(length);
    }

    /** Writes to a stream. */
    interface Write {
        void to(DataOutputStream out) throws IOException;
    }

    private interface Read<T> {
        T from(DataInputStream in) throws IOException;
    }

    static byte[] bytes(Write write) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            write.to(new DataOutputStream(bytes));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static <T> T read(byte[] bytes, Read<T> read) {
        try {
            DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
            byte version = in.readByte();
            if (version != VERSION) {
                throw new IOException("version " + version + ", written by a newer release");
            }
            return read.from(in);
        } catch (IOException e) {
            throw new UncheckedIOException("a record of the journal cannot be read: " + e.getMessage(), e);
        }
    }
}
