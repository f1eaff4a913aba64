package dev.onlyonce.payments.provider;

import dev.onlyonce.payments.faults.Chances;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The provider's fault switches.
 *
 * @param chances how likely each is
 * @param delay the longest that a {@link Fault#DELAY} or a {@link Fault#WEBHOOK_LATE} lasts
 */
public record Faults(Chances<Fault> chances, Duration delay) {
    private static final Duration DELAY = Duration.ofMillis(500);

    /** A provider that does everything right. */
    public static Faults none() {
        return new Faults(Chances.none(Fault.class), DELAY);
    }

    /**
     * Reads names and numbers: each fault's chance, {@code delay_ms} and {@code seed}.
     *
     * @throws IllegalArgumentException that says what is wrong
     */
    public static Faults of(Map<String, ? extends Number> settings) {
        Map<Fault, Double> chances = new TreeMap<>();
        Duration delay = DELAY;
        long seed = 0;
        for (Map.Entry<String, ? extends Number> setting : settings.entrySet()) {
            Number value = setting.getValue();
            switch (setting.getKey()) {
                case "delay_ms" -> delay = Duration.ofMillis(value.longValue());
                case "seed" -> seed = value.longValue();
                default -> chances.put(Chances.fault(Fault.class, setting.getKey()), value.doubleValue());
            }
        }
        if (delay.isNegative() || delay.compareTo(Duration.ofMinutes(10)) > 0) {
            throw new IllegalArgumentException("delay_ms must be between 0 and 600000: " + delay.toMillis());
        }
        return new Faults(new Chances<>(Fault.class, chances, seed), delay);
    }

    /** What {@link #of} reads. */
    public Map<String, Number> settings() {
        Map<String, Number> settings = new LinkedHashMap<>();
        new TreeMap<>(chances.asMap()).forEach((fault, chance) -> settings.put(Chances.name(fault), chance));
        settings.put("delay_ms", delay.toMillis());
        settings.put("seed", chances.seed());
        return settings;
    }

    boolean strikes(Fault fault, String about, int attempt) {
        return chances.strikes(fault, about, attempt);
    }

    Duration delay(Fault fault, String about, int attempt) {
        return Duration.ofMillis(chances.random(fault, about, attempt).nextLong(delay.toMillis() + 1));
    }
}
