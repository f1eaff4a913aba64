package dev.onlyonce.check;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** Whose requirements an API has to meet. What is unsafe fails under each of them. */
public enum Standard {
    /** What both the IETF draft and Stripe require. */
    AUTO,
    /** draft-ietf-httpapi-idempotency-key-header-07. */
    IETF,
    /** Stripe's documentation. */
    STRIPE,
    /** All that Onlyonce promises. */
    STRICT;

    /** The standard with this name. */
    public static Optional<Standard> of(String name) {
        return Arrays.stream(values()).filter(each -> each.id().equals(name)).findFirst();
    }

    /** Its name on the command line. */
    public String id() {
        return name().toLowerCase(Locale.ROOT);
    }
}
