package dev.onlyonce.payments.cli;

import java.util.regex.Pattern;

/** A command cannot do its work; the message is all that people need to see. */
public final class CannotRun extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** It did not work, for the reason that was printed. */
    public static final int FAILED = 1;
    /** The command line is wrong. */
    public static final int USAGE = 2;
    /** A server that is needed cannot be reached. */
    public static final int UNAVAILABLE = 4;

    private static final int PORT_MAX = 65_535;
    private static final Pattern BROKERS = Pattern.compile("[^\\s,]+:\\d{1,5}(,[^\\s,]+:\\d{1,5})*");

    private final int exitCode;

    /** Ends the program with this code. */
    public CannotRun(int exitCode, String message) {
        super(message, null, false, false);
        this.exitCode = exitCode;
    }

    /** Throws unless an option names a port, or 0 for any free one. */
    public static void unlessPort(String option, int port) {
        if (port < 0 || port > PORT_MAX) {
            throw new CannotRun(
                    USAGE, option + ": " + port + " is no port; use 1 to " + PORT_MAX + ", or 0 for any free one");
        }
    }

    /** Throws unless an option names a broker, or several. */
    public static void unlessBroker(String option, String broker) {
        if (!BROKERS.matcher(broker).matches()) {
            throw new CannotRun(USAGE, option + ": " + broker + " is no address of a broker such as 127.0.0.1:9092");
        }
    }

    /** The code that the program ends with. */
    public int exitCode() {
        return exitCode;
    }
}
