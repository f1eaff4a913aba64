package dev.onlyonce.payments.domain;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.payments.db.Sql;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** Accounts and the transfers between them. Every method works in the caller's transaction. Thread-safe. */
public final class Transfers {
    private final InstantSource clock;

    /** With the clock that dates them. */
    public Transfers(InstantSource clock) {
        this.clock = clock;
    }

    /** An account. */
    public record Account(String id, String currency, long balance) {}

    /** What a transfer came to. */
    public sealed interface Result {
        /** The money moved. */
        record Made(Transfer transfer) implements Result {}

        /** Nothing moved, for a reason that the client can read; the code is for programs. */
        record Refused(String code, String message) implements Result {}
    }

    /** Opens an account unless it is there. */
    public void open(Sql sql, String tenant, Account account) throws SQLException {
        sql.insertUnlessThere(
                "INSERT INTO account (tenant, id, currency, balance) VALUES (?, ?, ?, ?)",
                tenant,
                account.id(),
                account.currency(),
                account.balance());
    }

    /** A tenant's account. */
    public Optional<Account> account(Sql sql, String tenant, String id) throws SQLException {
        return sql.first(
                row -> new Account(row.getString(1), row.getString(2), row.getLong(3)),
                "SELECT id, currency, balance FROM account WHERE tenant = ? AND id = ?",
                tenant,
                id);
    }

    /** Moves money between two accounts of a tenant, or nothing. */
    public Result make(Sql sql, String tenant, TransferOrder order) throws SQLException {
        order.check();
        String from = requireNonNull(order.fromAccount());
        String to = requireNonNull(order.toAccount());
        long amount = requireNonNull(order.amount());
        Map<String, Account> accounts = lock(sql, tenant, from, to);
        Account source = accounts.get(from);
        Account target = accounts.get(to);
        if (source == null || target == null) {
            String missing = source == null ? from : to;
            return new Result.Refused("account_unknown", "there is no account " + missing);
        }
        if (!source.currency().equals(target.currency())) {
            return new Result.Refused("currency_differs", "the accounts have different currencies");
        }
        if (source.balance() < amount) {
            return new Result.Refused("balance_too_low", "the account " + from + " does not hold that much");
        }
        String add = "UPDATE account SET balance = balance + ? WHERE tenant = ? AND id = ?";
        sql.update(add, -amount, tenant, from);
        sql.update(add, amount, tenant, to);
        Transfer transfer =
                new Transfer("tra_" + UUID.randomUUID(), from, to, amount, source.currency(), clock.millis());
        sql.update("""
                INSERT INTO transfer (id, tenant, from_account, to_account, amount, currency, created_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """, transfer.id(), tenant, from, to, amount, transfer.currency(), transfer.createdAt());
        return new Result.Made(transfer);
    }

    /** Always locks both in the same order, so that two opposite transfers cannot deadlock. */
    private Map<String, Account> lock(Sql sql, String tenant, String from, String to) throws SQLException {
        Map<String, Account> accounts = new HashMap<>();
        for (String id : from.compareTo(to) < 0 ? List.of(from, to) : List.of(to, from)) {
            sql.first(
                            row -> new Account(row.getString(1), row.getString(2), row.getLong(3)),
                            sql.dialect()
                                    .forUpdate("SELECT id, currency, balance FROM account WHERE tenant = ? AND id = ?"),
                            tenant,
                            id)
                    .ifPresent(account -> accounts.put(id, account));
        }
        return accounts;
    }
}
