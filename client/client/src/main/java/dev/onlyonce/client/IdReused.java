package dev.onlyonce.client;

/** The business id was used for another request: another method, URL or body. Nothing was sent. */
public final class IdReused extends RuntimeException {
    private static final long serialVersionUID = 1;

    IdReused(String id, CallRequest first) {
        super("The id " + id + " was used for another request (" + first
                + "). Nothing was sent. Use another id for another request, or forget this one if it never happened");
    }
}
