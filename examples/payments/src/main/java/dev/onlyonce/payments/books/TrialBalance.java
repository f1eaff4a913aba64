package dev.onlyonce.payments.books;

import java.util.List;

/**
 * A tenant's books, added up.
 *
 * @param accounts by account and currency
 * @param events how many events were posted
 * @param balanced whether debits equal credits, in each event and so in all
 */
public record TrialBalance(List<Line> accounts, long events, boolean balanced) {

    /**
     * An account in a currency.
     *
     * @param balance debits less credits, in the currency's smallest unit
     */
    public record Line(String account, String currency, long debit, long credit, long balance) {}
}
