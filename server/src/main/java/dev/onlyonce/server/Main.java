package dev.onlyonce.server;

/** The program {@code onlyonce}. */
public final class Main {
    private Main() {}

    /** Runs a command and ends with its exit code. */
    public static void main(String[] arguments) {
        System.exit(0);
    }
}
