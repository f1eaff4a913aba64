package dev.onlyonce.check;

import dev.onlyonce.check.wire.Printable;

/** The API cannot be checked at all: it cannot be reached, or it does not do what every check begins with. */
public final class CannotCheck extends Exception {
    private static final long serialVersionUID = 1;

    /** With what to do, for people. */
    CannotCheck(String message) {
        super(Printable.of(message), null, false, false);
    }
}
