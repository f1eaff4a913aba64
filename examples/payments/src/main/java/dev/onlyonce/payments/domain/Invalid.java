package dev.onlyonce.payments.domain;

import java.util.ArrayList;
import java.util.Currency;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A request that says something impossible: 400, with everything that is wrong with it. */
public final class Invalid extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final transient List<Mistake> errors;

    /** One thing that is wrong. */
    public record Mistake(String field, String message) {}

    private Invalid(List<Mistake> errors) {
        super(errors.toString());
        this.errors = errors;
    }

    /** What is wrong. */
    public List<Mistake> errors() {
        return errors;
    }

    /** Collects what is wrong. */
    public static final class Check {
        /** What fits into a bank's fields. */
        private static final long AMOUNT_MAX = 999_999_999_999L;

        private final List<Mistake> errors = new ArrayList<>();

        /** Notes an error unless the condition holds. */
        public Check that(boolean holds, String field, String message) {
            if (!holds) {
                errors.add(new Mistake(field, message));
            }
            return this;
        }

        /** Checks an amount in the smallest unit. */
        public Check amount(@Nullable Long amount) {
            return that(
                    amount != null && amount > 0 && amount <= AMOUNT_MAX,
                    "amount",
                    "must be a whole number of the currency's smallest unit, from 1 to " + AMOUNT_MAX);
        }

        /** Checks a currency. */
        public Check currency(@Nullable String currency) {
            return that(isCurrency(currency), "currency", "must be an ISO 4217 code such as EUR");
        }

        /** Checks a text that must be there. */
        public Check text(@Nullable String text, String field, int lengthMax) {
            return that(
                    // Not every database can keep the character 0.
                    text != null && !text.isBlank() && text.length() <= lengthMax && text.indexOf('\0') < 0,
                    field,
                    "must be a text of 1 to " + lengthMax + " characters");
        }

        /** Checks a text that may be missing. */
        public Check optional(@Nullable String text, String field, int lengthMax) {
            return text == null ? this : text(text, field, lengthMax);
        }

        private static boolean isCurrency(@Nullable String currency) {
            try {
                return currency != null && Currency.getInstance(currency.toUpperCase(Locale.ROOT)) != null;
            } catch (IllegalArgumentException e) {
                return false;
            }
        }

        /** Throws {@link Invalid} if anything was wrong. */
        public void done() {
            if (!errors.isEmpty()) {
                throw new Invalid(List.copyOf(errors));
            }
        }
    }
}
