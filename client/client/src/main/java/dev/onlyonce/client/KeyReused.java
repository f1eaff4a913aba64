package dev.onlyonce.client;

/**
 * The server says that the key was used for another request. This is a bug: a key source that is not unique, a derived key
 * whose request has changed, or a server that compares more than the request. Nothing was executed; the journal keeps the call.
 */
public final class KeyReused extends RuntimeException {
    private static final long serialVersionUID = 1;

    KeyReused(String id, String what) {
        super("The server refuses the key of " + id + ": " + what
                + ". Nothing was executed. Check that the key source makes one" + " key for one request");
    }
}
