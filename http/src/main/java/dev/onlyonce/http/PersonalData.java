package dev.onlyonce.http;

import dev.onlyonce.MalformedKey;
import java.util.regex.Pattern;

/**
 * Keys that look like personal data. It is a guess that errs on the side of refusing: a key of 7 to 19 digits is refused
 * whether it is a telephone number or an order number.
 */
final class PersonalData {
    private static final Pattern MAIL = Pattern.compile("[^@]+@[^@]+\\.[A-Za-z]{2,}");
    /** Digits, with what people put between them. */
    private static final Pattern DIGITS = Pattern.compile("\\+?[0-9][0-9().-]{5,}[0-9]");

    private static final int PHONE_DIGITS_MIN = 7;
    private static final int PHONE_DIGITS_MAX = 15;
    private static final int CARD_DIGITS_MAX = 19;

    private PersonalData() {}

    /** Throws {@link MalformedKey} if the key looks like an e-mail address, a telephone number or a card number. */
    static void refuse(String key) {
        if (MAIL.matcher(key).matches()) {
            throw personal("an e-mail address");
        }
        if (DIGITS.matcher(key).matches()) {
            String digits = key.replaceAll("[^0-9]", "");
            if (digits.length() >= PHONE_DIGITS_MIN && digits.length() <= PHONE_DIGITS_MAX) {
                throw personal("a telephone number");
            }
            if (digits.length() > PHONE_DIGITS_MAX && digits.length() <= CARD_DIGITS_MAX && isLuhn(digits)) {
                throw personal("a card number");
            }
        }
    }

    private static MalformedKey personal(String what) {
        return new MalformedKey(
                MalformedKey.Reason.PERSONAL, "the key looks like " + what + "; use a random one, such as a UUID");
    }

    /** The check digit of card numbers. */
    private static boolean isLuhn(String digits) {
        int sum = 0;
        for (int i = 0; i < digits.length(); i++) {
            int digit = digits.charAt(digits.length() - 1 - i) - '0';
            int weighted = i % 2 == 0 ? digit : 2 * digit;
            sum += weighted > 9 ? weighted - 9 : weighted;
        }
        return sum % 10 == 0;
    }
}
