package dev.onlyonce.prove;

import java.io.IOException;
import java.util.Arrays;

/** Runs the main method of another class in a process that ends when its input ends, so it cannot outlive the prover. */
public final class Guarded {
    private Guarded() {}

    public static void main(String[] arguments) throws ReflectiveOperationException {
        Thread guard = new Thread(Guarded::awaitEnd, "guard");
        guard.setDaemon(true);
        guard.start();
        Class.forName(arguments[0]).getMethod("main", String[].class).invoke(null, (Object)
                Arrays.copyOfRange(arguments, 1, arguments.length));
    }

    /** Nobody writes there. */
    private static void awaitEnd() {
        try {
            while (System.in.read() >= 0) {
                // Goes on.
            }
        } catch (IOException e) {
            // It has ended too.
        }
        Runtime.getRuntime().halt(0);
    }
}
