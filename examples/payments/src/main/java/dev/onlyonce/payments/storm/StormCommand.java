package dev.onlyonce.payments.storm;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.payments.cli.CannotRun;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Sends a storm and prints what came of it; the exit code is 0 only if all is well. */
@Command(
        name = "storm",
        description = "Sends a retry storm through a bad network at the demo, then counts the provider's charges.",
        mixinStandardHelpOptions = true)
public final class StormCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    /** Where nobody watches, a line now and then is enough. */
    private static final int LINE_EVERY = 5;

    private static final Duration PUTTING_BACK_MAX = Duration.ofSeconds(10);

    @Option(
            names = "--url",
            paramLabel = "URL",
            defaultValue = "http://127.0.0.1:8080",
            description = "The payments API. Default: ${DEFAULT-VALUE}")
    private URI url = URI.create("http://127.0.0.1:8080");

    @Option(
            names = "--provider-url",
            paramLabel = "URL",
            defaultValue = "http://127.0.0.1:8081",
            description = "The provider behind it. Default: ${DEFAULT-VALUE}")
    private URI providerUrl = URI.create("http://127.0.0.1:8081");

    @Option(names = "--payments", defaultValue = "2000", description = "How many payments. Default: ${DEFAULT-VALUE}")
    private int payments;

    @Option(
            names = "--copies",
            defaultValue = "5",
            description = "How many times each is sent, at the same time. Default: ${DEFAULT-VALUE}")
    private int copies;

    @Option(
            names = "--open",
            defaultValue = "50",
            description = "How many payments are open at the same time. Default: ${DEFAULT-VALUE}")
    private int open;

    @Option(names = "--seed", description = "Repeats the faults of an earlier storm. Default: a new one, printed")
    private @Nullable Long seed;

    @Option(
            names = "--network-fault",
            paramLabel = "NAME=CHANCE",
            description = "reset_request, reset_answer, drop_answer, cut_answer; replaces the usual ones.")
    private Map<String, Double> network = new LinkedHashMap<>();

    @Option(
            names = "--fault",
            paramLabel = "NAME=CHANCE",
            description = "A fault of the provider, as its own --fault; replaces the usual ones.")
    private Map<String, Double> faults = new LinkedHashMap<>();

    @Option(
            names = "--patience",
            paramLabel = "DURATION",
            defaultValue = "PT2M",
            description = "How long to wait for the last answers. Default: ${DEFAULT-VALUE}")
    private Duration patience = Duration.ofMinutes(2);

    @Mixin
    private BooksOptions books = new BooksOptions();

    @Override
    public Integer call() {
        StormOptions options = options();
        PrintWriter out = requireNonNull(spec).commandLine().getOut();
        out.printf(
                "Sending %,d payments, each %d times at once, to %s (seed %d)%n",
                payments, copies, url, options.seed());
        out.flush();
        boolean live = isTerminal();
        Storm storm = new Storm(options, progress(out, live));
        CountDownLatch ended = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(interrupter(Thread.currentThread(), ended));
        Class<?> program = requireNonNull(spec).root().userObject().getClass();
        try (Havoc havoc = books.start(program, options.seed())) {
            Storm.Report report = storm.run();
            out.print(live ? System.lineSeparator() : "");
            report.verdict().lines(report.networkFaults()).forEach(out::println);
            boolean booksAreWell = !books.isChecked() || checkBooks(havoc, out);
            out.flush();
            return report.verdict().allWell() && booksAreWell ? 0 : CannotRun.FAILED;
        } catch (IOException e) {
            throw new CannotRun(CannotRun.UNAVAILABLE, e.getMessage() + ": is the demo running?");
        } catch (InterruptedException e) {
            throw new CannotRun(CannotRun.FAILED, "Ended early; the provider's faults are as before.");
        } finally {
            ended.countDown();
        }
    }

    private boolean checkBooks(@Nullable Havoc havoc, PrintWriter out) throws IOException, InterruptedException {
        if (havoc != null) {
            try {
                havoc.calm();
            } catch (IllegalStateException e) {
                throw new CannotRun(
                        CannotRun.FAILED,
                        e.getMessage() + "; ./onlyonce bookkeeper with the same --db and --broker says more");
            }
        }
        BooksVerdict verdict = new BooksCheck(url, providerUrl).await(patience);
        verdict.lines().forEach(out::println);
        if (havoc != null) {
            out.printf(
                    "Bookkeepers were killed %d times, the broker was bounced %d times.%n",
                    havoc.kills(), havoc.bounces());
        }
        return verdict.allWell();
    }

    private StormOptions options() {
        if (payments < 1 || copies < 1 || open < 1) {
            throw new CannotRun(CannotRun.USAGE, "--payments, --copies and --open must be at least 1");
        }
        books.check();
        try {
            return new StormOptions(
                    List.of(url),
                    providerUrl,
                    new StormOptions.Size(payments, copies, open, books.refundEvery()),
                    network.isEmpty() ? StormOptions.NETWORK : network,
                    faults.isEmpty() ? StormOptions.FAULTS : faults,
                    seed == null ? ThreadLocalRandom.current().nextLong(1_000_000) : seed,
                    patience);
        } catch (IllegalArgumentException e) {
            throw new CannotRun(CannotRun.USAGE, String.valueOf(e.getMessage()));
        }
    }

    /** Ctrl-C must not leave the provider's faults switched on: the storm puts them back before the program ends. */
    private static Thread interrupter(Thread storming, CountDownLatch ended) {
        return new Thread(() -> {
            storming.interrupt();
            try {
                boolean unused = ended.await(PUTTING_BACK_MAX.toMillis(), TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    /** Newer JDKs have a console even when the output goes to a file, unless told otherwise. */
    @SuppressWarnings("SystemConsoleNull")
    private static boolean isTerminal() {
        System.setProperty("jdk.console", "java.base");
        return System.console() != null;
    }

    private static Consumer<String> progress(PrintWriter out, boolean live) {
        AtomicInteger calls = new AtomicInteger();
        return line -> {
            if (live) {
                out.print("\r\u001b[K" + line);
                out.flush();
            } else if (calls.incrementAndGet() % LINE_EVERY == 0) {
                out.println(line);
                out.flush();
            }
        };
    }
}
