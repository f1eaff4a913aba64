package dev.onlyonce.cassandra;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.StoreRejected;
import java.nio.charset.StandardCharsets;

/** The names that a table can hold. */
final class Names {
    private static final int LENGTH_MAX = 255;

    private Names() {}

    /** Throws {@link StoreRejected} if a claim has a name that cannot be stored. */
    static void check(ClaimRequest claim) {
        check("tenant", claim.id().tenant());
        check("scope", claim.id().scope());
        check("key", claim.id().key());
        check("operation", claim.operation());
        check("owner", claim.owner());
    }

    private static void check(String what, String name) {
        if (name.length() > LENGTH_MAX) {
            throw new StoreRejected(what + " has " + name.length() + " characters; at most " + LENGTH_MAX, null);
        }
        if (name.indexOf(0) >= 0 || !StandardCharsets.UTF_8.newEncoder().canEncode(name)) {
            throw new StoreRejected(what + " has a NUL or half a surrogate pair", null);
        }
    }
}
