package dev.onlyonce.payments.provider;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How to run a provider.
 *
 * @param port where to listen, on the loopback interface; 0 for any free port
 * @param data the folder of its ledger, kept between runs
 * @param keyLifetime how long an idempotency key is honoured; zero: never, so that each repeat charges again
 * @param webhooks where webhooks go
 * @param faults the switches at the start
 * @param callerDies kills the process that asked for a charge; called once a card that wants it was charged
 */
public record ProviderOptions(
        int port, Path data, Duration keyLifetime, Webhook webhooks, Faults faults, Runnable callerDies) {
    /** What payment providers usually declare. */
    public static final Duration KEY_LIFETIME = Duration.ofHours(24);

    /**
     * Where webhooks go, and what they are signed with.
     *
     * @param url null for none
     */
    public record Webhook(@Nullable URI url, String secret) {}

    /** The usual one: no webhooks, no faults. */
    public static ProviderOptions in(Path data) {
        return new ProviderOptions(0, data, KEY_LIFETIME, new Webhook(null, "none"), Faults.none(), () -> {});
    }

    /** On a given port. */
    public ProviderOptions port(int port) {
        return new ProviderOptions(port, data, keyLifetime, webhooks, faults, callerDies);
    }

    /** With another lifetime of keys. */
    public ProviderOptions keyLifetime(Duration keyLifetime) {
        return new ProviderOptions(port, data, keyLifetime, webhooks, faults, callerDies);
    }

    /** With webhooks. */
    public ProviderOptions webhooks(URI url, String secret) {
        return new ProviderOptions(port, data, keyLifetime, new Webhook(url, secret), faults, callerDies);
    }

    /** With a caller that can be killed: the one in the same process. */
    public ProviderOptions callerDies(Runnable death) {
        return new ProviderOptions(port, data, keyLifetime, webhooks, faults, death);
    }

    /** With faults. */
    public ProviderOptions faults(Faults faults) {
        return new ProviderOptions(port, data, keyLifetime, webhooks, faults, callerDies);
    }
}
