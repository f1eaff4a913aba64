package dev.onlyonce.http;

import dev.onlyonce.MalformedKey;
import dev.onlyonce.MalformedKey.Reason;
import dev.onlyonce.fingerprint.MalformedRequest;
import dev.onlyonce.store.Tokens;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A key in a field of an HTML form ({@link Operation.Builder#keyField}), usually a hidden one. */
public final class KeyField {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.:-]{1,255}");
    private static final String FORM = "application/x-www-form-urlencoded";

    private final List<String> values = new ArrayList<>();
    private final ByteArrayOutputStream others = new ByteArrayOutputStream();

    private KeyField(String name, byte[] form) {
        // Bytes as they are: names and keys are ASCII, and anything else is refused later.
        for (String pair : new String(form, StandardCharsets.ISO_8859_1).split("&")) {
            int equals = pair.indexOf('=');
            if (decoded(equals < 0 ? pair : pair.substring(0, equals)).equals(name)) {
                values.add(equals < 0 ? "" : decoded(pair.substring(equals + 1)));
            } else {
                if (others.size() > 0) {
                    others.write('&');
                }
                others.writeBytes(pair.getBytes(StandardCharsets.ISO_8859_1));
            }
        }
    }

    /** A new random key for the template of a page, once each time that it is rendered. */
    public static String fresh() {
        return Tokens.next().toString();
    }

    /** Refuses what a form cannot do. */
    static void check(String field, String operation, Profile profile) {
        if (!NAME.matcher(field).matches()) {
            throw new IllegalArgumentException("the key field of " + operation
                    + " must have 1 to 255 letters, digits and characters of _.:- and is \"" + field + "\"");
        }
        if (!profile.keyRequired()) {
            throw new IllegalArgumentException("keys of " + operation + " are optional, so a form that lacks the field "
                    + field + " would run unprotected: require keys");
        }
        if (profile.isOasis()) {
            throw new IllegalArgumentException(
                    operation + " has a key field, but forms cannot send the headers of the profile oasis");
        }
    }

    /**
     * What a form has of the operation's field; null if the body is no such form.
     *
     * @throws MalformedRequest if the body is larger than the operation takes, so that a part of it is missing
     */
    static @Nullable KeyField form(Operation operation, HttpRequest request) {
        String field = operation.keyField();
        if (field == null || !isForm(request.headers())) {
            return null;
        }
        if (request.body().length > operation.bodyBytesMax()) {
            throw new MalformedRequest(
                    MalformedRequest.Reason.BODY_TOO_LARGE, "the body is larger than the operation takes");
        }
        return new KeyField(field, request.body());
    }

    private static boolean isForm(Headers headers) {
        String type = headers.first("Content-Type").orElse("");
        int parameters = type.indexOf(';');
        return (parameters < 0 ? type : type.substring(0, parameters))
                        .strip()
                        .toLowerCase(Locale.ROOT)
                        .equals(FORM)
                && !headers.has("Content-Encoding");
    }

    /** The key of a request that may have it in the header, in the form, or in both. */
    static String key(String field, Operation operation, HttpRequest request) {
        String header = operation.profile().keyHeader();
        List<String> lines = request.headers().values(header);
        KeyField form = form(operation, request);
        if (form == null || form.values.isEmpty()) {
            if (lines.isEmpty()) {
                throw new MalformedKey(
                        Reason.MISSING,
                        "the request has no " + header + " header and no field " + field + " in a form of type "
                                + FORM);
            }
            return KeyHeader.parse(header, lines);
        }
        String query = request.query();
        if (query != null && !new KeyField(field, query.getBytes(StandardCharsets.ISO_8859_1)).values.isEmpty()) {
            // Containers mix it with the form; and addresses are logged.
            throw new MalformedKey(Reason.SEVERAL, "the address has a " + field + "; only the form may have it");
        }
        String key = KeyHeader.parseOnly("form field " + field, form.values);
        if (!lines.isEmpty() && !KeyHeader.parse(header, lines).equals(key)) {
            throw new MalformedKey(
                    Reason.SEVERAL, "the " + header + " header and the form field " + field + " are two keys");
        }
        return key;
    }

    /** The rest of the form, which is what is compared. */
    byte[] others() {
        return others.toByteArray();
    }

    private static String decoded(String text) {
        return PercentCoding.decode(text.replace('+', ' '));
    }
}
