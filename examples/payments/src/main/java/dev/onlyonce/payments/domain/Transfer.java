package dev.onlyonce.payments.domain;

/**
 * Money moved between two accounts.
 *
 * @param createdAt milliseconds since 1970
 */
public record Transfer(String id, String fromAccount, String toAccount, long amount, String currency, long createdAt) {}
