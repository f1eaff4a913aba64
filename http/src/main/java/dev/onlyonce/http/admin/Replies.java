package dev.onlyonce.http.admin;

import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How answers to operators are made, and what every one of them says to browsers. */
public final class Replies {
    private static final int ETAG_BYTES = 16;
    private static final String NOW = "\"now\":\"";
    /** The clock for the times in an answer. */
    private static final String NOW_HEADER = "Onlyonce-Now";

    /** No code and no style but our own files, no request to anywhere else, in nobody's frame. */
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
            + " img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
            + " require-trusted-types-for 'script'; trusted-types 'none'";

    private Replies() {}

    /** A value as JSON. */
    public static HttpAnswer json(int status, Object value) {
        return of(status, "application/json", Json.write(value));
    }

    /** A text. */
    public static HttpAnswer text(int status, String type, String text) {
        return of(status, type, text.getBytes(StandardCharsets.UTF_8));
    }

    /** A refusal. */
    public static HttpAnswer problem(int status, String detail) {
        return problem(status, null, detail);
    }

    /** A refusal that programs recognise by its code. */
    static HttpAnswer problem(int status, @Nullable String code, String detail) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("type", "about:blank");
        members.put("status", status);
        members.put("detail", detail);
        if (code != null) {
            members.put("code", code);
        }
        if (status == 503 || status == 429) {
            members.put("retry", true);
        }
        return of(status, "application/problem+json", Json.write(members));
    }

    static HttpAnswer of(int status, String type, byte[] body) {
        return new HttpAnswer(status, Headers.of("Content-Type", type, "Cache-Control", "no-store"), body);
    }

    /** With what every answer says to browsers. */
    static HttpAnswer guarded(HttpAnswer answer) {
        return answer.header("Content-Security-Policy", POLICY)
                .header("X-Content-Type-Options", "nosniff")
                .header("X-Frame-Options", "DENY")
                .header("Referrer-Policy", "no-referrer")
                .header("Cross-Origin-Opener-Policy", "same-origin")
                .header("Cross-Origin-Resource-Policy", "same-origin");
    }

    /**
     * With its tag; without its body if the client has it already. The time of the answer moves into a header: that it is later now is no
     * reason to send the same again.
     */
    static HttpAnswer tagged(AdminRequest request, HttpAnswer answer) {
        byte[] body = answer.body();
        // No stored text can look like it: in JSON a quotation mark within a text has a backslash.
        int from = new String(body, StandardCharsets.ISO_8859_1).indexOf(NOW) + NOW.length();
        boolean timed = from >= NOW.length();
        int to = timed ? from : 0;
        while (timed && body[to] != '"') {
            to++;
        }
        String tag =
                "\"" + hash(Arrays.copyOf(body, timed ? from : 0), Arrays.copyOfRange(body, to, body.length)) + "\"";
        HttpAnswer tagged = answer.header("ETag", tag);
        if (timed) {
            tagged = tagged.header(NOW_HEADER, new String(body, from, to - from, StandardCharsets.US_ASCII));
        }
        boolean had = request.headers().values("If-None-Match").stream()
                .flatMap(line -> Arrays.stream(line.split(",")))
                .map(String::trim)
                .anyMatch(it -> it.equals(tag) || it.equals("W/" + tag));
        return had
                ? HttpAnswer.of(
                        304, tagged.headers().only(field -> !field.name().equals("Content-Type")))
                : tagged;
    }

    private static String hash(byte[]... parts) {
        return HexFormat.of().formatHex(Arrays.copyOf(sha256(parts), ETAG_BYTES));
    }

    static byte[] sha256(byte[]... parts) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (byte[] part : parts) {
                digest.update(part);
            }
            return digest.digest();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
