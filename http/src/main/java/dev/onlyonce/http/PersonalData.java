package dev.onlyonce.http;

import dev.onlyonce.MalformedKey;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Keys that look like personal data, or contain it. It is a guess:
 *
 * <ol>
 *   <li>e-mail addresses, IBANs and card numbers anywhere in a key, the latter two with their check digits, and telephone numbers
 *       that begin with a plus;
 *   <li>a key that is nothing but 7 to 15 digits, whether it is a telephone number or an order number. Within a longer key it
 *       passes: dates and counters look the same;
 *   <li>UUIDs are left out, and what is part of a longer run of letters and digits is none of these: random keys pass.
 * </ol>
 */
final class PersonalData {
    private static final String BEFORE = "(?<![A-Za-z0-9])";
    private static final String AFTER = "(?![A-Za-z0-9])";

    private static final Pattern UUID =
            Pattern.compile(BEFORE + "[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}" + AFTER);
    private static final Pattern MAIL = Pattern.compile("[A-Za-z0-9._%+-]@(?:[A-Za-z0-9-]{1,63}\\.)+[A-Za-z]{2,}");
    /** Digits, with what people put between them. */
    private static final Pattern DIGITS = Pattern.compile("\\+?[0-9][0-9().-]{5,}[0-9]");

    private static final Pattern PHONE = Pattern.compile(BEFORE + "\\+[0-9](?:[().-]{0,2}[0-9]){6,14}(?![0-9])");
    /** In one piece, or as it is printed on the card. */
    private static final Pattern CARD = Pattern.compile(BEFORE
            + "(?:[0-9]{13,19}|[0-9]{4}([-._])[0-9]{4}\\1[0-9]{4}\\1[0-9]{4}(?:\\1[0-9]{3})?|[0-9]{4}([-._])[0-9]{6}\\2[0-9]{5})"
            + AFTER);
    /** American Express, Diners, JCB, Visa, Mastercard, UnionPay, Discover. Numbers of the time and of counters begin with 1. */
    private static final Pattern ISSUER = Pattern.compile("(?:3[0-9]|4|5[1-5]|2[2-7]|6[0245]).*");

    private static final Pattern IBAN =
            Pattern.compile(BEFORE + "([A-Za-z]{2}[0-9]{2})((?:[-._]?[A-Za-z0-9]){11,30})" + AFTER);
    private static final Pattern SEPARATORS = Pattern.compile("[^A-Za-z0-9]");

    /** Country and length: the letters of a random key rarely fit. */
    private static final Set<String> IBAN_LENGTHS = Set.of(
            ("AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 "
                            + "ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 "
                            + "LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 "
                            + "PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 "
                            + "YE30")
                    .split(" "));

    private static final int PHONE_DIGITS_MIN = 7;
    private static final int PHONE_DIGITS_MAX = 15;
    private static final int IBAN_MIN = 15;
    private static final int IBAN_MODULUS = 97;

    private PersonalData() {}

    /** Throws {@link MalformedKey} if the key looks like an e-mail address, a bank account, a telephone or a card number. */
    static void refuse(String key) {
        String decoded = key.replace("%40", "@").replace("%2B", "+").replace("%2b", "+");
        String text = UUID.matcher(decoded).replaceAll("/");
        if (MAIL.matcher(text).find()) {
            throw personal("an e-mail address");
        }
        if (hasCard(text)) {
            throw personal("a card number");
        }
        if (PHONE.matcher(text).find() || isNothingButPhone(text)) {
            throw personal("a telephone number");
        }
        if (hasIban(text)) {
            throw personal("a bank account");
        }
    }

    private static MalformedKey personal(String what) {
        return new MalformedKey(
                MalformedKey.Reason.PERSONAL, "the key looks like " + what + "; use a random one, such as a UUID");
    }

    private static boolean isNothingButPhone(String text) {
        int digits = SEPARATORS.matcher(text).replaceAll("").length();
        return DIGITS.matcher(text).matches() && digits >= PHONE_DIGITS_MIN && digits <= PHONE_DIGITS_MAX;
    }

    private static boolean hasCard(String text) {
        Matcher card = CARD.matcher(text);
        while (card.find()) {
            String digits = SEPARATORS.matcher(card.group()).replaceAll("");
            if (ISSUER.matcher(digits).matches() && isLuhn(digits)) {
                return true;
            }
        }
        return false;
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

    /** What follows an IBAN after a separator may be part of the match, so every end at a separator is tried. */
    private static boolean hasIban(String text) {
        for (Matcher iban = IBAN.matcher(text); iban.find(); ) {
            String found = iban.group();
            for (int end = found.length(); end >= IBAN_MIN; end = lastSeparator(found, end)) {
                String account = SEPARATORS.matcher(found.substring(0, end)).replaceAll("");
                if (account.length() >= IBAN_MIN && isIban(account)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static int lastSeparator(String text, int before) {
        int i = before - 1;
        while (i >= 0 && Character.isLetterOrDigit(text.charAt(i))) {
            i--;
        }
        return i;
    }

    /** The check digits of ISO 13616: with its first four characters at the end, and letters as numbers from 10, 1 modulo 97. */
    private static boolean isIban(String account) {
        String turned = account.substring(4) + account.substring(0, 4);
        int rest = 0;
        for (int i = 0; i < turned.length(); i++) {
            int value = Character.digit(turned.charAt(i), Character.MAX_RADIX);
            rest = (rest * (value > 9 ? 100 : 10) + value) % IBAN_MODULUS;
        }
        return rest == 1 && IBAN_LENGTHS.contains(account.substring(0, 2).toUpperCase(Locale.ROOT) + account.length());
    }
}
