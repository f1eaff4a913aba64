package dev.onlyonce.testkit;

import java.io.Serial;

/** Unwinds the stack frames of a machine that is no more. An error, so that nothing handles it. */
final class Crash extends Error {
    @Serial
    private static final long serialVersionUID = 1;

    Crash(String machine) {
        super(machine + " is no more", null, false, false);
    }
}
