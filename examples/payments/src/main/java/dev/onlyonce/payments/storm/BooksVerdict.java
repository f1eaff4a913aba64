package dev.onlyonce.payments.storm;

import java.util.List;
import java.util.Map;

/**
 * The books against the provider's ledger.
 *
 * @param made the provider's charges less its refunds, by currency, in its smallest unit
 * @param posted what the provider owes by the books, by currency
 * @param balanced whether debits equal credits in each event
 * @param events how many events were posted
 */
public record BooksVerdict(Map<String, Long> made, Map<String, Long> posted, boolean balanced, long events) {

    /** Whether the books balance, to the cent, and say what the provider says. */
    public boolean allWell() {
        return balanced && made.equals(posted);
    }

    /** For people. */
    public List<String> lines() {
        return List.of(
                "",
                "The books against the provider's ledger, after %,d events".formatted(events),
                "  charges less refunds         %s".formatted(made),
                "  posted to the books          %s".formatted(posted),
                "  debits equal credits         %s".formatted(balanced ? "yes" : "NO"),
                allWell() ? "The books balance." : "THE BOOKS ARE WRONG.");
    }
}
