package dev.onlyonce.payments.provider;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.payments.cli.CannotRun;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs a simulated provider until the process is stopped. */
@Command(name = "provider", description = "Runs the simulated payment provider.", mixinStandardHelpOptions = true)
public final class ProviderCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            defaultValue = "8081",
            description = "Where to listen; 0 for any free port. Default: ${DEFAULT-VALUE}")
    private int port;

    @Option(
            names = "--data",
            paramLabel = "DIR",
            defaultValue = "data",
            description = "The folder of the ledger, kept between runs. Default: ${DEFAULT-VALUE}")
    private Path data = Path.of("data");

    @Option(
            names = "--key-lifetime",
            paramLabel = "DURATION",
            defaultValue = "PT24H",
            description = "How long idempotency keys are honoured; PT0S: never. Default: ${DEFAULT-VALUE}")
    private Duration keyLifetime = ProviderOptions.KEY_LIFETIME;

    @Option(names = "--webhook-url", paramLabel = "URL", description = "Where webhooks go. Default: nowhere")
    private @Nullable URI webhookUrl;

    @Option(names = "--webhook-secret", paramLabel = "SECRET", description = "What webhooks are signed with.")
    private String webhookSecret = "whsec_demo";

    @Option(
            names = "--fault",
            paramLabel = "NAME=CHANCE",
            description =
                    "A fault and how likely it is, from 0 to 1: decline, delay, error_before, error_after, drop_after,"
                            + " reset_before, reset_after, webhook_late, webhook_twice, webhook_never, webhook_swapped,"
                            + " webhook_forged, lookup_error; also delay_ms=N, the longest delay, and seed=N.")
    private Map<String, Double> faults = new LinkedHashMap<>();

    @Override
    public Integer call() throws InterruptedException {
        CannotRun.unlessPort("--port", port);
        ProviderOptions options;
        try {
            options = new ProviderOptions(
                    port,
                    data,
                    keyLifetime,
                    new ProviderOptions.Webhook(webhookUrl, webhookSecret),
                    Faults.of(faults),
                    // Whoever asked is another process, and only hears no answer.
                    () -> {});
        } catch (IllegalArgumentException e) {
            throw new ParameterException(requireNonNull(spec).commandLine(), String.valueOf(e.getMessage()), e);
        }
        Provider provider;
        try {
            provider = Provider.start(options);
        } catch (IllegalStateException e) {
            throw new CannotRun(CannotRun.FAILED, String.valueOf(e.getMessage()));
        }
        Runtime.getRuntime().addShutdownHook(new Thread(provider::close));
        PrintWriter out = requireNonNull(spec).commandLine().getOut();
        out.println("The provider listens on " + provider.url());
        out.flush();
        new CountDownLatch(1).await();
        return 0;
    }
}
