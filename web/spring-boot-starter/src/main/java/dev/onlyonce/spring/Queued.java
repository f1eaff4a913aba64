package dev.onlyonce.spring;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * What a {@linkplain dev.onlyonce.Way#QUEUED queued} handler returns: the call that a worker makes after the commit. The client
 * gets the final result if it comes within the operation's {@code wait-max}, else 202 with {@code Retry-After} and
 * {@code Location}.
 */
public final class Queued {
    private final Object payload;
    private final @Nullable String location;

    private Queued(Object payload, @Nullable String location) {
        this.payload = payload;
        this.location = location;
    }

    /** Queues a call with this payload: bytes as they are, anything else as JSON. */
    public static Queued of(Object payload) {
        return new Queued(requireNonNull(payload, "payload"), null);
    }

    /** Where clients ask for the result while it is not known, such as {@code /payments/42}; by default the key's status. */
    public Queued location(String location) {
        return new Queued(payload, requireNonNull(location, "location"));
    }

    public Object payload() {
        return payload;
    }

    @Nullable
    public String location() {
        return location;
    }
}
