package dev.onlyonce.payments;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.payments.cli.CannotRun;
import dev.onlyonce.payments.cli.DatabaseUrl;
import dev.onlyonce.payments.provider.Provider;
import dev.onlyonce.payments.provider.ProviderOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.context.ConfigurableApplicationContext;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs the payments and their provider, and says how to try them. */
@Command(
        name = "demo",
        description = "Runs the reference payments system with its simulated provider.",
        mixinStandardHelpOptions = true)
final class DemoCommand implements Callable<Integer> {
    private static final String SECRET = "whsec_" + UUID.randomUUID();
    private static final int PORT_TRIES_MAX = 100;
    private static final int KILLED = 137;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            defaultValue = "8080",
            description = "Where the payments listen; 0 for any free port. Default: ${DEFAULT-VALUE}")
    private int port;

    @Option(
            names = "--provider-port",
            paramLabel = "PORT",
            defaultValue = "8081",
            description = "Where the provider listens; 0 for any free port. Default: ${DEFAULT-VALUE}")
    private int providerPort;

    @Option(
            names = "--data",
            paramLabel = "DIR",
            defaultValue = "data/demo",
            description = "The folder of all data, kept between runs. Default: ${DEFAULT-VALUE}")
    private Path data = Path.of("data/demo");

    @Option(
            names = "--db",
            paramLabel = "JDBC-URL",
            description =
                    "Keeps the payments in this PostgreSQL, MySQL or MariaDB database instead of SQLite in --data.")
    private @Nullable String db;

    @Option(
            names = "--broker",
            paramLabel = "HOST:PORT",
            description =
                    "Publishes payments and refunds to this Kafka, and keeps the books from there. Default: no broker")
    private @Nullable String broker;

    private DemoCommand() {}

    @Override
    public Integer call() throws InterruptedException {
        CannotRun.unlessPort("--port", port);
        CannotRun.unlessPort("--provider-port", providerPort);
        if (broker != null) {
            CannotRun.unlessBroker("--broker", broker);
        }
        if (port != 0 && !isFree(port)) {
            throw new CannotRun(CannotRun.FAILED, "The payments do not start: " + inUse(port));
        }
        String url = database();
        // Known before either starts: each must be told where the other is.
        int ownPort = port == 0 ? freePort() : port;
        URI hooks = URI.create("http://127.0.0.1:" + ownPort + "/webhooks/provider");
        Provider provider = startProvider(hooks);
        ConfigurableApplicationContext payments;
        try {
            payments = start(ownPort, url, provider.url());
        } catch (RuntimeException e) {
            provider.close();
            throw new CannotRun(CannotRun.FAILED, "The payments do not start: " + reason(e));
        }
        print(URI.create("http://127.0.0.1:" + ownPort), provider.url());
        CountDownLatch ended = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            // First the one that calls, then the one that is called.
            payments.close();
            provider.close();
            out().println("Ended. The data are kept in " + data.toAbsolutePath());
            out().flush();
            ended.countDown();
        }));
        ended.await();
        return 0;
    }

    /** The URL of a database that answers. */
    private String database() {
        try {
            Files.createDirectories(data);
        } catch (IOException e) {
            throw new CannotRun(CannotRun.FAILED, "Cannot make the folder " + data.toAbsolutePath() + ": " + e);
        }
        String url = db == null ? "jdbc:sqlite:" + data.resolve("payments.db") : db;
        DatabaseUrl.checkAnswers(url);
        return url;
    }

    private Provider startProvider(URI hooks) {
        try {
            return Provider.start(ProviderOptions.in(data)
                    .port(providerPort)
                    .webhooks(hooks, SECRET)
                    // As kill -9 would end it.
                    .callerDies(() -> Runtime.getRuntime().halt(KILLED)));
        } catch (IllegalStateException e) {
            throw new CannotRun(
                    CannotRun.FAILED, e.getMessage() + "; --provider-port and --data name another port and folder");
        }
    }

    private ConfigurableApplicationContext start(int ownPort, String url, URI provider) {
        return new SpringApplicationBuilder(PaymentsApplication.class)
                .registerShutdownHook(false)
                .run(
                        "--server.port=" + ownPort,
                        // Its API keys are known to everybody.
                        "--server.address=127.0.0.1",
                        "--payments.demo=true",
                        "--payments.db=" + url,
                        "--payments.provider.url=" + provider,
                        "--payments.webhook-secret=" + SECRET,
                        "--payments.kafka.bootstrap-servers=" + (broker == null ? "" : broker),
                        // Where the console is, and why it does not start, is said here, in one line each.
                        "--logging.level.dev.onlyonce.spring=WARN",
                        "--logging.level.org.springframework.boot=OFF");
    }

    private static String reason(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof PortInUseException inUse) {
                return inUse(inUse.getPort());
            }
            if (cause.getCause() == null) {
                return firstLine(cause);
            }
        }
        return firstLine(failure);
    }

    private static String firstLine(Throwable failure) {
        return String.valueOf(failure.getMessage()).lines().findFirst().orElse(failure.toString());
    }

    /** A port below those that the system gives to outgoing connections: it stays free until it is used. */
    static int freePort() {
        for (int tries = 0; tries < PORT_TRIES_MAX; tries++) {
            int port = ThreadLocalRandom.current().nextInt(15_000, 32_000);
            if (isFree(port)) {
                return port;
            }
        }
        throw new CannotRun(CannotRun.FAILED, "No free port was found; --port names one");
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    private static String inUse(int port) {
        return "port " + port + " is in use; --port names another one";
    }

    private PrintWriter out() {
        return requireNonNull(spec).commandLine().getOut();
    }

    private void print(URI payments, URI provider) {
        // A new key for each run, because the data are kept: an old one would be answered from the record.
        String key = "demo-" + UUID.randomUUID().toString().substring(0, 8).toLowerCase(Locale.ROOT);
        String curl = "curl -i %s/payments -H 'Authorization: Bearer test_alice' -H 'Idempotency-Key: %s'"
                        .formatted(payments, key)
                + " -H 'Content-Type: application/json' -d '{\"amount\": %d, \"currency\": \"EUR\"}'";
        out().printf("""
                        Open this:      %1$s/

                        The console     %1$s/onlyonce/
                        The payments    %1$s   (%1$s/openapi.yaml, /health, /metrics)
                        The provider    %2$s   (%2$s/ledger, /faults, /stats)
                        The data        %3$s
                        API keys        test_alice and test_bob, two tenants

                        First call:
                          %4$s
                        Retry, the same answer and no second charge:
                          %4$s
                        The same key with another amount, refused:
                          %5$s

                        A retry storm, from another terminal:
                          ./onlyonce storm --url %1$s --provider-url %2$s

                        Ctrl-C ends it; the data are kept.
                        """, payments, provider, data.toAbsolutePath(), curl.formatted(1999), curl.formatted(2999));
        out().flush();
    }
}
