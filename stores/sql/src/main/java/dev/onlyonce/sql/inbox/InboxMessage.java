package dev.onlyonce.sql.inbox;

import dev.onlyonce.fingerprint.Fingerprint;
import org.jspecify.annotations.Nullable;

/**
 * A message, by its name.
 *
 * @param source who sends it: ids are unique within a source
 * @param id the same for each delivery of a message; 1 to 255 visible ASCII characters
 * @param content what it says. A message with a known id and other content is refused. Null if it does not matter: then any
 *     message with a known id is a repeat
 */
public record InboxMessage(
        String source, String id, @Nullable Fingerprint content) {
    /** A message whose content does not matter. */
    public InboxMessage(String source, String id) {
        this(source, id, null);
    }
}
