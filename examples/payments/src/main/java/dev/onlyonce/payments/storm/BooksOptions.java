package dev.onlyonce.payments.storm;

import dev.onlyonce.payments.cli.CannotRun;
import dev.onlyonce.payments.cli.DatabaseUrl;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The part of the command line that is about books. */
final class BooksOptions {
    @Option(
            names = "--books",
            description =
                    "Refunds every third payment too, and compares the books with the provider's ledger at the end.")
    private boolean books;

    @Option(
            names = "--bookkeepers",
            defaultValue = "0",
            description = "How many processes keep books during the storm, and are killed with SIGKILL again and again;"
                    + " needs --broker and --db. Default: ${DEFAULT-VALUE}")
    private int bookkeepers;

    @Option(names = "--broker", paramLabel = "HOST:PORT", description = "The Kafka of the demo.")
    private @Nullable String broker;

    @Option(names = "--db", paramLabel = "JDBC-URL", description = "The database of the demo, with user and password.")
    private @Nullable String db;

    @Option(
            names = "--kill-every",
            paramLabel = "DURATION",
            defaultValue = "PT5S",
            description = "How long it takes, about, from one kill to the next. Default: ${DEFAULT-VALUE}")
    private Duration killEvery = Duration.ofSeconds(5);

    @Option(
            names = "--bounce-broker",
            paramLabel = "COMMAND",
            description = "Takes the broker down and brings it up again, after every third kill.")
    private @Nullable String bounce;

    private static final int REFUND_EVERY = 3;
    private static final int BOUNCE_EVERY = 3;

    boolean isChecked() {
        return books || bookkeepers > 0;
    }

    int refundEvery() {
        return isChecked() ? REFUND_EVERY : 0;
    }

    /** Throws {@link CannotRun} if the options do not fit together. */
    void check() {
        if (bookkeepers < 0) {
            throw new CannotRun(CannotRun.USAGE, "--bookkeepers must not be negative");
        }
        if (bookkeepers == 0 && bounce != null) {
            throw new CannotRun(
                    CannotRun.USAGE, "--bounce-broker needs --bookkeepers: the broker is bounced between kills");
        }
        if (bookkeepers > 0 && (broker == null || db == null)) {
            throw new CannotRun(CannotRun.USAGE, "--bookkeepers needs --broker and --db, those of the demo");
        }
        if (killEvery.isNegative() || killEvery.isZero()) {
            throw new CannotRun(CannotRun.USAGE, "--kill-every must be positive");
        }
        if (broker != null) {
            CannotRun.unlessBroker("--broker", broker);
        }
        if (db != null) {
            DatabaseUrl.check(db);
        }
    }

    /** Starts bookkeepers, if any are wanted. */
    @Nullable
    Havoc start(Class<?> program, long seed) {
        if (bookkeepers == 0 || broker == null || db == null) {
            return null;
        }
        Havoc.Plan plan = new Havoc.Plan(
                Havoc.bookkeeper(program, db, broker), bookkeepers, killEvery, bounce == null ? 0 : BOUNCE_EVERY, seed);
        return new Havoc(plan, () -> bounce(bounce));
    }

    private static void bounce(@Nullable String command) throws IOException, InterruptedException {
        int code = new ProcessBuilder("sh", "-c", String.valueOf(command))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
        if (code != 0) {
            throw new IOException(command + " ended with " + code);
        }
    }
}
