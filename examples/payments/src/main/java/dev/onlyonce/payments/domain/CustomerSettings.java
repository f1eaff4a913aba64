package dev.onlyonce.payments.domain;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.onlyonce.payments.db.Sql;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A customer's settings: put as a whole, so that doing it again changes nothing.
 *
 * @param language a language tag such as {@code de}
 * @param emailReceipts whether receipts go out by e-mail
 */
public record CustomerSettings(
        @Nullable String language,
        @JsonProperty("email_receipts") @Nullable Boolean emailReceipts) {

    /** Throws {@link Invalid}. */
    public void check(String customerId) {
        new Invalid.Check()
                .text(customerId, "customer id", 64)
                .that(
                        language != null && language.matches("[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,1}"),
                        "language",
                        "must be a language tag such as de or pt-BR")
                .that(emailReceipts != null, "email_receipts", "must be true or false")
                .done();
    }

    /** Throws {@link Invalid}. */
    public static void checkCustomer(String customerId) {
        new Invalid.Check().text(customerId, "customer id", 64).done();
    }

    /** Deletes a customer's settings; says how many there were, 0 or 1. */
    public static int delete(Sql sql, String tenant, String customerId) throws SQLException {
        return sql.update("DELETE FROM customer_settings WHERE tenant = ? AND customer_id = ?", tenant, customerId);
    }

    /** Puts a customer's settings in place of what was there; returns them. */
    public CustomerSettings put(Sql sql, String tenant, String customerId) throws SQLException {
        check(customerId);
        sql.update(
                "INSERT INTO customer_settings (tenant, customer_id, language, email_receipts) VALUES (?, ?, ?, ?)"
                        + sql.dialect().orReplace("tenant, customer_id", "language", "email_receipts"),
                tenant,
                customerId,
                language,
                emailReceipts);
        return this;
    }

    /** A customer's settings. */
    public static Optional<CustomerSettings> find(Sql sql, String tenant, String customerId) throws SQLException {
        return sql.first(
                row -> new CustomerSettings(row.getString(1), row.getBoolean(2)),
                "SELECT language, email_receipts FROM customer_settings WHERE tenant = ? AND customer_id = ?",
                tenant,
                customerId);
    }
}
