package dev.onlyonce.payments.storm;

import dev.onlyonce.payments.faults.Chances;
import dev.onlyonce.payments.faults.NetworkFault;
import dev.onlyonce.payments.provider.Faults;
import java.net.URI;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What a storm is.
 *
 * @param apis the payments API, one URL for each node; every request goes to any of them
 * @param provider the provider behind it, whose ledger is the truth and whose faults are switched on
 * @param size how much is sent
 * @param network the chances of network faults between the storm and the API, by name
 * @param faults the provider's fault switches during the storm
 * @param seed decides amounts, tenants and faults
 * @param patience how long the last payment may take after the last was sent
 */
public record StormOptions(
        List<URI> apis,
        URI provider,
        Size size,
        Map<String, Double> network,
        Map<String, Double> faults,
        long seed,
        Duration patience) {

    /** Throws {@link IllegalArgumentException} that says what is wrong. */
    public StormOptions {
        Stream.concat(apis.stream(), Stream.of(provider)).forEach(StormOptions::checkUrl);
        chances(network, seed);
        Faults.of(faults);
    }

    private static void checkUrl(URI url) {
        if (!"http".equals(url.getScheme()) || url.getHost() == null) {
            throw new IllegalArgumentException("not a URL such as http://127.0.0.1:8080: " + url);
        }
    }

    private static Chances<NetworkFault> chances(Map<String, Double> network, long seed) {
        Map<NetworkFault, Double> chances = new EnumMap<>(NetworkFault.class);
        network.forEach((name, chance) -> chances.put(Chances.fault(NetworkFault.class, name), chance));
        return new Chances<>(NetworkFault.class, chances, seed);
    }

    Chances<NetworkFault> networkChances() {
        return chances(network, seed);
    }

    /**
     * How much is sent.
     *
     * @param payments how many different payments
     * @param copies how many times each is sent, at the same time; each copy retries until it has a final answer
     * @param open how many payments are open at the same time
     * @param refundEvery one in this many payments is refunded in part when it has succeeded; 0: none
     */
    public record Size(int payments, int copies, int open, int refundEvery) {
        /** Without refunds. */
        public Size(int payments, int copies, int open) {
            this(payments, copies, open, 0);
        }
    }

    /** A network that loses about one request or answer in seven. */
    public static final Map<String, Double> NETWORK =
            Map.of("reset_request", 0.03, "reset_answer", 0.03, "drop_answer", 0.05, "cut_answer", 0.03);

    /** A provider on a bad day. */
    public static final Map<String, Double> FAULTS = Map.ofEntries(
            Map.entry("decline", 0.10),
            Map.entry("delay", 0.05),
            Map.entry("delay_ms", 200.0),
            Map.entry("error_before", 0.05),
            Map.entry("error_after", 0.05),
            Map.entry("drop_after", 0.05),
            Map.entry("reset_before", 0.03),
            Map.entry("reset_after", 0.05),
            Map.entry("webhook_late", 0.10),
            Map.entry("webhook_twice", 0.20),
            Map.entry("webhook_never", 0.20),
            Map.entry("webhook_swapped", 0.10),
            Map.entry("webhook_forged", 0.05));
}
