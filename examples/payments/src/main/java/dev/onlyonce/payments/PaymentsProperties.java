package dev.onlyonce.payments;

import static java.util.Objects.requireNonNull;

import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The application's own settings, {@code payments.*}.
 *
 * @param db the JDBC URL of the database, with user and password
 * @param demo whether the demo's API keys and accounts are made at the start
 * @param provider how to reach the provider
 * @param waitMax how long a client waits for the provider before it gets 202; {@code onlyonce.operations} uses it
 * @param lease how long a worker's or a request's claim holds without a heartbeat
 * @param kafka where events are published; nowhere without a broker: then they are posted from the database
 * @param webhookSecret what the provider signs its webhooks with; there is none that everybody knows
 */
@ConfigurationProperties("payments")
public record PaymentsProperties(
        @DefaultValue("jdbc:sqlite:payments.db") String db,
        @DefaultValue("false") boolean demo,
        @DefaultValue Provider provider,
        @DefaultValue("2s") Duration waitMax,
        @DefaultValue("30s") Duration lease,
        @DefaultValue Kafka kafka,
        String webhookSecret) {

    /** Throws {@link NullPointerException} without a secret. */
    public PaymentsProperties {
        requireNonNull(webhookSecret, "Set payments.webhook-secret to what the provider signs its webhooks with");
    }

    /**
     * The broker.
     *
     * @param bootstrapServers its address, e.g. {@code 127.0.0.1:9092}; empty for none
     * @param bookkeeper whether this node keeps books too, beside those that {@code onlyonce bookkeeper} runs
     */
    public record Kafka(
            @Nullable String bootstrapServers,
            @DefaultValue("true") boolean bookkeeper) {}

    /**
     * How to reach the provider.
     *
     * @param timeout after which a call is unclear
     * @param absentAfter how long after a call in doubt the provider's ledger proves that it was not made
     * @param keyLifetime how long the provider honours an idempotency key, as it declares
     */
    public record Provider(
            @DefaultValue("http://127.0.0.1:8081") URI url,
            @DefaultValue("5s") Duration timeout,
            @DefaultValue("1m") Duration absentAfter,
            @DefaultValue("24h") Duration keyLifetime) {}
}
