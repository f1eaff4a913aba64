package dev.onlyonce.payments.storm;

import java.util.List;
import java.util.Map;

/**
 * The provider's ledger against the payments.
 *
 * @param payments how many were sent
 * @param declined payments that were answered as declined, and were not charged
 * @param chargedOnce payments that were answered as succeeded, with exactly one charge over their amount
 * @param chargedTwice payments with more than one charge
 * @param lost payments answered as succeeded without a charge, or charged without being answered as succeeded
 * @param differing payments whose copies did not all get the same bytes
 * @param undecided payments without a final answer
 * @param wrong what else is wrong, in words
 */
public record Verdict(
        int payments,
        int declined,
        int chargedOnce,
        int chargedTwice,
        int lost,
        int differing,
        int undecided,
        List<String> wrong) {

    /** Whether every payment took effect once, or not at all where it was declined. */
    public boolean allWell() {
        return chargedTwice == 0
                && lost == 0
                && differing == 0
                && undecided == 0
                && wrong.isEmpty()
                && chargedOnce + declined == payments;
    }

    /** For people. */
    public List<String> lines(Map<?, Long> networkFaults) {
        return List.of(
                "",
                "The provider's ledger against %,d payments".formatted(payments),
                "  charged once                 %,8d".formatted(chargedOnce),
                "  declined, not charged        %,8d".formatted(declined),
                "  charged twice                %,8d".formatted(chargedTwice),
                "  lost                         %,8d".formatted(lost),
                "  without a final answer       %,8d".formatted(undecided),
                "  copies with differing bytes  %,8d".formatted(differing),
                "  network faults               %s".formatted(networkFaults),
                wrong.isEmpty() ? "" : "  " + String.join("\n  ", wrong),
                allWell() ? "All is well." : "SOMETHING IS WRONG.");
    }
}
