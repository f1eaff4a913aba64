package dev.onlyonce.fingerprint;

import dev.onlyonce.fingerprint.MalformedRequest.Reason;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The canonical bytes of a request, algorithm 1: the byte 1, then one section for each part that the request has, in this
 * order: method, path, query, each selected header and its value, body. A section is a tag (one byte), the length of its
 * content (four bytes, big-endian) and the content, so that no two requests have the same bytes.
 *
 * <p>These bytes are what stored fingerprints were made from: a change here is a new algorithm.
 */
final class CanonicalRequest {
    /** The algorithm that this class is. */
    static final int ALGORITHM = 1;

    static final int METHOD = 'M';
    static final int PATH = 'P';
    static final int QUERY = 'Q';
    static final int HEADER_NAME = 'H';
    static final int HEADER_VALUE = 'V';
    private static final int SECTION_HEAD_BYTES = 1 + Integer.BYTES;

    /** How a body is compared; each has its own tag, so that a JSON text is not the form or the bytes that it looks like. */
    enum BodyKind {
        JSON('J'),
        FORM('F'),
        BYTES('B');

        private final char tag;

        BodyKind(char tag) {
            this.tag = tag;
        }

        /**
         * What a body is, by its headers. JSON in another charset and anything compressed is only bytes to us: we would not
         * read it as its receiver does.
         */
        static BodyKind of(@Nullable String contentType, @Nullable String contentEncoding) {
            boolean encoded = contentEncoding != null
                    && !contentEncoding.isBlank()
                    && !contentEncoding.strip().equalsIgnoreCase("identity");
            if (contentType == null || encoded) {
                return BYTES;
            }
            String[] parts = contentType.toLowerCase(Locale.ROOT).split(";", -1);
            String type = parts[0].strip();
            if (type.equals("application/x-www-form-urlencoded")) {
                return FORM;
            }
            boolean json = type.equals("application/json") || type.equals("text/json") || type.endsWith("+json");
            return json && isUtf8(parts) ? JSON : BYTES;
        }

        private static boolean isUtf8(String[] parts) {
            for (int i = 1; i < parts.length; i++) {
                String parameter = parts[i].strip();
                if (parameter.startsWith("charset=")) {
                    String charset = parameter.substring("charset=".length()).replace("\"", "");
                    return charset.equals("utf-8") || charset.equals("utf8") || charset.equals("us-ascii");
                }
            }
            return true;
        }
    }

    private final ByteBuilder out;

    /** A request without parts so far; {@code bytes} is about how long it will be. */
    CanonicalRequest(int bytes) {
        out = new ByteBuilder(bytes + 16 * SECTION_HEAD_BYTES);
        out.append(ALGORITHM);
    }

    /** Adds a part other than the body. */
    void text(int tag, String text) {
        out.append(tag);
        int section = out.beginSection();
        if (!out.appendUtf8(text)) {
            throw new MalformedRequest(
                    Reason.LONE_SURROGATE, "the request line or a header holds half of a surrogate pair");
        }
        out.endSection(section);
    }

    /**
     * Adds the body, the last part. No bytes are no body, whatever its kind.
     *
     * @throws MalformedRequest if it is not of its kind, or goes over a limit
     */
    void body(BodyKind kind, byte[] body, Ignored ignored) {
        if (body.length == 0) {
            return;
        }
        out.append(kind.tag);
        int section = out.beginSection();
        switch (kind) {
            case JSON -> JsonCanonicalizer.append(body, ignored, out);
            case FORM -> Form.append(body, out);
            case BYTES -> out.append(body, 0, body.length);
        }
        out.endSection(section);
    }

    /** All bytes so far; only the first {@link #size()} count. */
    byte[] array() {
        return out.array();
    }

    int size() {
        return out.size();
    }
}
