package dev.onlyonce.server.admin;

import dev.onlyonce.store.EntryId;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** An entry's id as one opaque word, to continue a listing after it. */
final class Cursor {
    private static final String SEPARATOR = "\n";

    private Cursor() {}

    static String encode(EntryId id) {
        String text = String.join(SEPARATOR, id.tenant(), id.scope(), id.key());
        return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    static EntryId decode(String cursor) {
        try {
            String[] parts =
                    new String(Base64.getUrlDecoder().decode(cursor), StandardCharsets.UTF_8).split(SEPARATOR, -1);
            if (parts.length == 3) {
                return new EntryId(parts[0], parts[1], parts[2]);
            }
        } catch (IllegalArgumentException e) {
            // Falls through to the same message.
        }
        throw new IllegalArgumentException("\"after\" is not a cursor that a listing gave");
    }
}
