package dev.onlyonce.check.wire;

import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A request whose bytes are decided here, also those that no client library would send.
 *
 * @param headers in this order; {@code Host}, {@code Connection} and the length of the body are added unless given
 * @param chunked whether the body goes in chunks, without a {@code Content-Length}
 */
public record RawRequest(String method, URI url, List<HeaderLine> headers, byte[] body, boolean chunked) {
    private static final int SHOWN_BODY_CHARS_MAX = 2000;
    /** Several chunks even for a small body. */
    private static final int CHUNK_BYTES = 7;

    /** A request without body. */
    public static RawRequest get(URI url, List<HeaderLine> headers) {
        return new RawRequest("GET", url, headers, new byte[0], false);
    }

    /** The same with another method. */
    public RawRequest method(String other) {
        return new RawRequest(other, url, headers, body, chunked);
    }

    /** The same to another place. */
    public RawRequest url(URI other) {
        return new RawRequest(method, other, headers, body, chunked);
    }

    /** The same with another body. */
    public RawRequest body(byte[] other) {
        return new RawRequest(method, url, headers, other, chunked);
    }

    /** The same with another body. */
    public RawRequest body(String other) {
        return body(other.getBytes(StandardCharsets.UTF_8));
    }

    /** The same in chunks. */
    public RawRequest inChunks() {
        return new RawRequest(method, url, headers, body, true);
    }

    /** The same with one more line. */
    public RawRequest plus(String name, String value) {
        List<HeaderLine> more = new ArrayList<>(headers);
        more.add(new HeaderLine(name, value));
        return new RawRequest(method, url, more, body, chunked);
    }

    /** The same without any line of this header. */
    public RawRequest without(String name) {
        return new RawRequest(
                method, url, headers.stream().filter(line -> !line.is(name)).toList(), body, chunked);
    }

    /** The same with exactly one line of this header. */
    public RawRequest with(String name, String value) {
        return without(name).plus(name, value);
    }

    private boolean has(String name) {
        return headers.stream().anyMatch(line -> line.is(name));
    }

    private String head() {
        StringBuilder head =
                new StringBuilder(method).append(' ').append(target()).append(" HTTP/1.1\r\n");
        if (!has("Host")) {
            head.append("Host: ").append(url.getRawAuthority()).append("\r\n");
        }
        headers.forEach(line ->
                head.append(line.name()).append(": ").append(line.value()).append("\r\n"));
        if (!has("Connection")) {
            head.append("Connection: close\r\n");
        }
        if (chunked) {
            head.append("Transfer-Encoding: chunked\r\n");
        } else if (body.length > 0 || (!method.equals("GET") && !method.equals("HEAD"))) {
            head.append("Content-Length: ").append(body.length).append("\r\n");
        }
        return head.append("\r\n").toString();
    }

    private String target() {
        String path = url.getRawPath() == null || url.getRawPath().isEmpty() ? "/" : url.getRawPath();
        return url.getRawQuery() == null ? path : path + "?" + url.getRawQuery();
    }

    /** The head alone. */
    byte[] headBytes() {
        return head().getBytes(StandardCharsets.ISO_8859_1);
    }

    /** The body as it goes over the wire. */
    byte[] bodyBytes() {
        if (!chunked) {
            return body;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int from = 0; from < body.length; from += CHUNK_BYTES) {
            int length = Math.min(CHUNK_BYTES, body.length - from);
            bytes.writeBytes((Integer.toHexString(length) + "\r\n").getBytes(StandardCharsets.US_ASCII));
            bytes.write(body, from, length);
            bytes.writeBytes("\r\n".getBytes(StandardCharsets.US_ASCII));
        }
        bytes.writeBytes("0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        return bytes.toByteArray();
    }

    /** For people: no credentials, and not all of a large body. */
    public String shown() {
        StringBuilder text = new StringBuilder(method).append(' ').append(Printable.of(target()));
        headers.forEach(line -> text.append('\n').append(line.shown()));
        if (chunked) {
            text.append("\nTransfer-Encoding: chunked");
        }
        return text.append("\n\n").append(shown(body)).toString();
    }

    static String shown(byte[] body) {
        String text = Printable.of(new String(body, StandardCharsets.UTF_8));
        return text.length() <= SHOWN_BODY_CHARS_MAX
                ? text
                : String.format(
                        Locale.ROOT,
                        "%s… (%,d bytes)",
                        text.substring(0, SHOWN_BODY_CHARS_MAX).stripTrailing(),
                        body.length);
    }
}
