package dev.onlyonce.testkit.broken;

import dev.onlyonce.fingerprint.Fingerprinter;
import dev.onlyonce.fingerprint.MalformedRequest;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a request asks for, and its fingerprint. */
record Requested(String target, String body, String fingerprint) {

    /** Null if it is not JSON. */
    static @Nullable Requested of(@Nullable Flaw flaw, TinyRequest request, byte[] bytes) {
        String body = flaw == Flaw.CHUNKED && request.isChunked() ? "" : new String(bytes, StandardCharsets.UTF_8);
        String method = flaw == Flaw.OTHER_METHOD ? "POST" : request.method();
        String path = flaw == Flaw.OTHER_PATH ? "/payments" : request.path();
        String query = flaw == Flaw.OTHER_QUERY ? "" : request.query();
        try {
            String fingerprint = fingerprint(method, path, query, compared(flaw, body));
            return new Requested(
                    method + path + query, body, flaw == Flaw.RESERIALISED ? fingerprint + body : fingerprint);
        } catch (MalformedRequest e) {
            return null;
        }
    }

    /** The part of a body that is compared. */
    private static String compared(@Nullable Flaw flaw, String body) {
        if (flaw == Flaw.BODY_AMOUNT) {
            return body.replaceAll("\"amount\"\\s*:\\s*[-0-9.]+", "\"amount\": 0");
        }
        if (flaw == Flaw.BODY_ROUNDED) {
            return body.replaceAll("(\\d)\\.\\d+", "$1");
        }
        return flaw == Flaw.BODY_FLAT ? body.replaceAll(":\\s*\\{[^}]*\\}+", ": 0}") : body;
    }

    private static String fingerprint(String method, String path, String query, String body) {
        Fingerprinter.Request request = new Fingerprinter.Request(
                method, path, query, Map.of(), "application/json", body.getBytes(StandardCharsets.UTF_8));
        return HexFormat.of()
                .formatHex(Fingerprinter.standard().fingerprint(request).digest());
    }

    boolean isDeclined() {
        return body.contains("-1");
    }

    boolean isFailing() {
        return body.contains("500");
    }
}
