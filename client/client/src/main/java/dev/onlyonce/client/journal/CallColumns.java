package dev.onlyonce.client.journal;

import dev.onlyonce.client.CallBody;
import dev.onlyonce.client.CallRequest;
import dev.onlyonce.client.CallResponse;
import dev.onlyonce.client.JournalException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Requests and answers as columns of a table. A head is text: a first line, and a line for each header, as in HTTP. A body is
 * its bytes; of a body in a file, length, digest and path are kept.
 */
final class CallColumns {
    /** More of an answer is not kept. The status tells the outcome. */
    static final int ANSWER_BYTES_MAX = 16 * 1024;

    private static final String WHOLE = "whole";
    private static final String PART = "part";
    /** Those that tell what the answer means or where its result is. */
    private static final Set<String> KEPT = Set.of(
            "content-type",
            "location",
            "etag",
            "idempotent-replayed",
            "idempotency-key-expires",
            "retry-after",
            "request-id");

    private CallColumns() {}

    /** A request. One of body and file is null. */
    record Request(byte[] head, byte @Nullable [] body, byte @Nullable [] file) {
        static Request of(CallRequest request) {
            StringJoiner head = new StringJoiner("\n").add(request.method() + " " + request.uri());
            request.headers().forEach((name, value) -> head.add(name + ": " + value));
            if (request.body() instanceof CallBody.InFile file) {
                return new Request(utf8(head), null, utf8(file.length() + " " + file.sha256() + " " + file.file()));
            }
            return new Request(utf8(head), ((CallBody.Bytes) request.body()).bytes(), null);
        }

        CallRequest request() {
            String[] lines = text(head).split("\n", -1);
            String[] first = lines[0].split(" ", 2);
            Map<String, String> headers = new TreeMap<>();
            for (int i = 1; i < lines.length; i++) {
                String[] header = lines[i].split(": ", 2);
                headers.put(header[0], header[1]);
            }
            return new CallRequest(first[0], URI.create(first[1]), headers, callBody());
        }

        private CallBody callBody() {
            if (file == null) {
                return body == null ? CallBody.none() : CallBody.of(body);
            }
            String[] parts = text(file).split(" ", 3);
            return new CallBody.InFile(Path.of(parts[2]), Long.parseLong(parts[0]), parts[1]);
        }

        /** Of all that is sent. A flipped bit in a key would be another key, and another effect. */
        String checksum(String id, String key) {
            MessageDigest digest = CallBody.digest();
            byte[] none = new byte[0];
            for (byte[] part :
                    List.of(utf8(id), utf8(key), head, body == null ? none : body, file == null ? none : file)) {
                digest.update(
                        ByteBuffer.allocate(Integer.BYTES).putInt(part.length).array());
                digest.update(part);
            }
            return HexFormat.of().formatHex(digest.digest());
        }
    }

    /** An answer: status, a few headers, and the body up to a bound. */
    record Answer(byte[] head, byte[] body) {
        static Answer of(CallResponse answer) {
            boolean fits = answer.body().length <= ANSWER_BYTES_MAX;
            StringJoiner head =
                    new StringJoiner("\n").add(answer.status() + " " + (answer.isWhole() && fits ? WHOLE : PART));
            answer.headers().forEach((name, values) -> {
                String all = String.join("", values);
                if (KEPT.contains(name.toLowerCase(Locale.ROOT))
                        && all.length() <= ANSWER_BYTES_MAX
                        && all.indexOf('\n') < 0) {
                    values.forEach(value -> head.add(name + ": " + value));
                }
            });
            return new Answer(utf8(head), fits ? answer.body() : new byte[0]);
        }

        CallResponse response() {
            String[] lines = text(head).split("\n", -1);
            String[] first = lines[0].split(" ", 2);
            Map<String, List<String>> headers = new LinkedHashMap<>();
            for (int i = 1; i < lines.length; i++) {
                String[] header = lines[i].split(": ", 2);
                headers.merge(header[0], List.of(header[1]), CallColumns::joined);
            }
            return new CallResponse(Integer.parseInt(first[0]), headers, body, first[1].equals(WHOLE));
        }
    }

    private static List<String> joined(List<String> one, List<String> other) {
        return java.util.stream.Stream.concat(one.stream(), other.stream()).toList();
    }

    /** Refuses what is not what was written. */
    static void check(String id, String expected, String checksum) {
        if (!expected.equals(checksum)) {
            throw new JournalException("The call " + id + " in the journal is damaged, so nothing was sent. Restore the"
                    + " journal from a copy, or find out at the server what happened and forget the id");
        }
    }

    /** Ids are compared byte by byte. Collations of databases ignore case, accents or spaces at the end. */
    static String hash(String id) {
        return HexFormat.of().formatHex(CallBody.digest().digest(utf8(id)));
    }

    private static byte[] utf8(Object text) {
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] utf8) {
        return new String(utf8, StandardCharsets.UTF_8);
    }
}
