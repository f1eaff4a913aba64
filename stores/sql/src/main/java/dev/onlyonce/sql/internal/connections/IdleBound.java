package dev.onlyonce.sql.internal.connections;

/**
 * How long a transaction may be idle on PostgreSQL: a process that stops inside of it must not hold its rows until TCP notices. The server ends
 * the transaction then. A shorter bound of the session stays in force.
 */
public final class IdleBound {
    private static final String NAME = "idle_in_transaction_session_timeout";

    /** An expression, for transactions in which no code of the application waits for anything. */
    public static final String OWN = of("'60s'");

    private IdleBound() {}

    /**
     * An expression.
     *
     * @param longest a text in SQL, with its unit; it stands there twice
     */
    public static String of(String longest) {
        return """
               set_config('NAME',
                   CASE WHEN current_setting('NAME') <> '0' AND current_setting('NAME')::interval < LONGEST::interval
                   THEN current_setting('NAME') ELSE LONGEST END, true)""".replace("NAME", NAME).replace("LONGEST", longest);
    }
}
