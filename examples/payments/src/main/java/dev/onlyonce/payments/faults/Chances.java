package dev.onlyonce.payments.faults;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * How likely each fault is. Whether it strikes depends only on the seed, the fault, what it is about and the attempt: not on
 * which thread comes first, so that a run can be repeated.
 *
 * @param <F> the kinds of faults
 */
public final class Chances<F extends Enum<F>> {
    private final Map<F, Double> chances;
    private final long seed;

    /** Takes chances between 0 and 1; faults that are not named never strike. */
    public Chances(Class<F> faults, Map<F, Double> chances, long seed) {
        this.chances = new EnumMap<>(faults);
        this.seed = seed;
        chances.forEach((fault, chance) -> {
            if (!(chance >= 0 && chance <= 1)) {
                throw new IllegalArgumentException(name(fault) + " must be between 0 and 1: " + chance);
            }
            this.chances.put(fault, chance);
        });
    }

    /** No fault ever. */
    public static <F extends Enum<F>> Chances<F> none(Class<F> faults) {
        return new Chances<>(faults, Map.of(), 0);
    }

    /** Tells whether a fault strikes. */
    public boolean strikes(F fault, String about, int attempt) {
        double chance = chances.getOrDefault(fault, 0.0);
        return chance > 0 && random(fault, about, attempt).nextDouble() < chance;
    }

    /** A random source that depends on the same things; for how strong a fault is. */
    public SplittableRandom random(F fault, String about, int attempt) {
        long hash = seed;
        String text = fault.name() + about;
        for (int i = 0; i < text.length(); i++) {
            hash = hash * 31 + text.charAt(i);
        }
        hash = hash * 31 + attempt;
        // Neighbouring seeds give related first numbers; one round of mixing is enough for chances.
        return new SplittableRandom(new SplittableRandom(hash).nextLong());
    }

    /** The chances, by fault; without those that never strike. */
    public Map<F, Double> asMap() {
        return Map.copyOf(chances);
    }

    /** The seed. */
    public long seed() {
        return seed;
    }

    /** A fault's name outside Java, e.g. {@code reset_after}. */
    public static String name(Enum<?> fault) {
        return fault.name().toLowerCase(Locale.ROOT);
    }

    /** The fault with this name; throws {@link IllegalArgumentException} that says so. */
    public static <F extends Enum<F>> F fault(Class<F> faults, String name) {
        try {
            return Enum.valueOf(faults, name.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("There is no fault called " + name, e);
        }
    }
}
