package dev.onlyonce.http;

import dev.onlyonce.Key;
import dev.onlyonce.fingerprint.Fingerprint;

/** What checking a request came to, before its key is claimed. */
public sealed interface Checked {
    /** It is not protected. */
    record Pass() implements Checked {}

    /** It breaks a rule or a limit: send this. Nothing was stored. */
    record Refused(HttpAnswer answer) implements Checked {}

    /**
     * It asks for this.
     *
     * @param room its share of the tenant's limits, to be released when the request has ended in whatever way
     */
    record Asked(Key key, Fingerprint fingerprint, Room room) implements Checked {}
}
