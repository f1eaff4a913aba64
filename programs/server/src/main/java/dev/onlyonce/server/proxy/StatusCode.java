package dev.onlyonce.server.proxy;

/** What HTTP knows as a status (RFC 9110): three digits, the first of them from 1 to 5. */
final class StatusCode {
    private static final int DIGITS = 3;

    private StatusCode() {}

    static boolean isValid(CharSequence text) {
        return text.length() == DIGITS
                && text.charAt(0) >= '1'
                && text.charAt(0) <= '5'
                && isDigit(text.charAt(1))
                && isDigit(text.charAt(2));
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
