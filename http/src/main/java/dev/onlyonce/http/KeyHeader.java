package dev.onlyonce.http;

import dev.onlyonce.Key;
import dev.onlyonce.MalformedKey;
import dev.onlyonce.MalformedKey.Reason;
import java.util.List;

/**
 * Reads the {@code Idempotency-Key} header. Two forms are accepted and mean the same key:
 *
 * <ul>
 *   <li>a string of RFC 8941, {@code "8e03978e-40d5"}, in which {@code \"} and {@code \\} stand for a quote and a backslash;
 *       parameters may follow and are ignored;
 *   <li>the bare key, {@code 8e03978e-40d5}, as most clients send it. It may have any visible ASCII character but the double
 *       quote, the comma and the semicolon, and may not begin with a single quote: each of those would make it look like
 *       something else (see {@link #bare}). A key that has them must be quoted.
 * </ul>
 *
 * <p>Either way the key has 1 to 255 visible ASCII characters. White space around the value does not matter.
 */
public final class KeyHeader {
    /** The name of the header. */
    public static final String NAME = "Idempotency-Key";

    private KeyHeader() {}

    /** The key in the lines of {@code Idempotency-Key}. */
    public static String parse(List<String> headerLines) {
        return parse(NAME, headerLines);
    }

    /**
     * The key in the lines of a header.
     *
     * @param name the name of the header, for messages
     * @param headerLines the value of each of its lines
     * @throws MalformedKey if there is not exactly one line with exactly one well-formed key
     */
    static String parse(String name, List<String> headerLines) {
        return parseOnly(name + " header", headerLines);
    }

    /**
     * The key in whatever carries it.
     *
     * @param carrier what that is, for messages
     * @param values all that the request has of it
     */
    static String parseOnly(String carrier, List<String> values) {
        if (values.isEmpty()) {
            throw new MalformedKey(Reason.MISSING, "the request has no " + carrier);
        }
        if (values.size() > 1) {
            throw new MalformedKey(Reason.SEVERAL, "the request has more than one " + carrier);
        }
        String value = trim(values.get(0));
        if (value.isEmpty()) {
            throw new MalformedKey(Reason.EMPTY, "the " + carrier + " is empty");
        }
        String key = value.charAt(0) == '"' ? new StructuredString(value).parse() : bare(value);
        Key.checkValue(key);
        return key;
    }

    /**
     * A key without quotes. What could be read in two ways is refused, since a retry may be read in the other one:
     *
     * <ul>
     *   <li>a comma: a proxy may have joined two lines with it;
     *   <li>a semicolon: parameters, or part of the key;
     *   <li>a double quote, or a single quote at the beginning: quoting gone wrong, so that the same key would be two.
     * </ul>
     */
    private static String bare(String value) {
        if (value.charAt(0) == '\'') {
            throw new MalformedKey(Reason.BAD_QUOTING, "the key is in single quotes; use double quotes or none");
        }
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == ',') {
                throw new MalformedKey(Reason.SEVERAL, "a comma in a key without quotes: several keys?");
            }
            if (c == '"' || c == ';') {
                throw new MalformedKey(
                        Reason.BAD_CHARACTER, "a key without quotes has a " + c + " at position " + (i + 1));
            }
        }
        return value;
    }

    /** Without the white space that HTTP allows around a field's value; other control characters stay, to be refused. */
    private static String trim(String line) {
        int from = 0;
        int to = line.length();
        while (from < to && isSpace(line.charAt(from))) {
            from++;
        }
        while (to > from && isSpace(line.charAt(to - 1))) {
            to--;
        }
        return line.substring(from, to);
    }

    private static boolean isSpace(char c) {
        return c == ' ' || c == '\t';
    }
}
