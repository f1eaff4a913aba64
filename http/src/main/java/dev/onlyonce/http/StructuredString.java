package dev.onlyonce.http;

import dev.onlyonce.MalformedKey;
import dev.onlyonce.MalformedKey.Reason;
import java.util.function.IntPredicate;

/** Parses a structured field item (RFC 8941) that is a string: its parameters must be well-formed and are dropped. */
final class StructuredString {
    private static final int INTEGER_DIGITS_MAX = 15;
    private static final int DECIMAL_INTEGER_DIGITS_MAX = 12;
    private static final int DECIMAL_FRACTION_DIGITS_MAX = 3;

    private final String text;
    private int at;

    /** A value that begins with a double quote, without white space around it. */
    StructuredString(String text) {
        this.text = text;
    }

    /** The string, which may be empty and may have spaces. */
    String parse() {
        String string = string();
        while (take(';')) {
            skip(c -> c == ' ');
            parameter();
        }
        if (at < text.length()) {
            boolean list = text.substring(at).stripLeading().startsWith(",");
            throw list
                    ? new MalformedKey(Reason.SEVERAL, "several keys in one header")
                    : new MalformedKey(Reason.BAD_QUOTING, "something follows the quoted key at position " + (at + 1));
        }
        return string;
    }

    private String string() {
        at++;
        StringBuilder string = new StringBuilder();
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == '"') {
                return string.toString();
            }
            if (c == '\\') {
                c = at < text.length() ? text.charAt(at++) : 0;
                if (c != '"' && c != '\\') {
                    throw new MalformedKey(
                            Reason.BAD_QUOTING, "a backslash before something else than \" or \\ at position " + at);
                }
            } else if (c < ' ' || c > '~') {
                throw new MalformedKey(
                        Reason.BAD_CHARACTER, "the header has a character that is not ASCII text at position " + at);
            }
            string.append(c);
        }
        throw new MalformedKey(Reason.BAD_QUOTING, "a double quote is not closed");
    }

    private void parameter() {
        require(at < text.length() && (isLower(text.charAt(at)) || text.charAt(at) == '*'));
        skip(c -> isLower(c) || isDigit(c) || c == '_' || c == '-' || c == '.' || c == '*');
        if (take('=')) {
            value();
        }
    }

    private void value() {
        require(at < text.length());
        char c = text.charAt(at);
        if (c == '"') {
            string();
        } else if (c == '?') {
            at++;
            require(take('0') || take('1'));
        } else if (c == ':') {
            at++;
            skip(b -> isLetter(b) || isDigit(b) || b == '+' || b == '/' || b == '=');
            require(take(':'));
        } else if (c == '-' || isDigit(c)) {
            number();
        } else {
            require(isLetter(c) || c == '*');
            skip(t -> isLetter(t) || isDigit(t) || "!#$%&'*+-.^_`|~:/".indexOf(t) >= 0);
        }
    }

    private void number() {
        take('-');
        int digits = skip(StructuredString::isDigit);
        require(digits >= 1 && digits <= INTEGER_DIGITS_MAX);
        if (take('.')) {
            int fraction = skip(StructuredString::isDigit);
            require(digits <= DECIMAL_INTEGER_DIGITS_MAX && fraction >= 1 && fraction <= DECIMAL_FRACTION_DIGITS_MAX);
        }
    }

    /** Skips the characters that fit, and says how many they were. */
    private int skip(IntPredicate fits) {
        int start = at;
        while (at < text.length() && fits.test(text.charAt(at))) {
            at++;
        }
        return at - start;
    }

    private boolean take(char wanted) {
        boolean there = at < text.length() && text.charAt(at) == wanted;
        at += there ? 1 : 0;
        return there;
    }

    private void require(boolean wellFormed) {
        if (!wellFormed) {
            throw new MalformedKey(Reason.BAD_QUOTING, "bad parameters after the key at position " + (at + 1));
        }
    }

    private static boolean isLower(int c) {
        return c >= 'a' && c <= 'z';
    }

    private static boolean isLetter(int c) {
        return isLower(c) || (c >= 'A' && c <= 'Z');
    }

    private static boolean isDigit(int c) {
        return c >= '0' && c <= '9';
    }
}
