package dev.onlyonce.check.wire;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** One header line, exactly as it is sent or was received. */
public record HeaderLine(String name, String value) {
    private static final Set<String> CREDENTIALS =
            Set.of("authorization", "proxy-authorization", "cookie", "set-cookie");
    private static final Pattern SECRET = Pattern.compile("token|secret|passw|api-?key|auth|session");

    /** From {@code Name: value}; throws {@link IllegalArgumentException} for anything else. */
    public static HeaderLine parse(String line) {
        int colon = line.indexOf(':');
        if (colon < 1 || !line.substring(0, colon).matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+")) {
            // Not the line itself: it may hold a credential.
            throw new IllegalArgumentException("This is not a header. Write it as \"Name: value\".");
        }
        String value = line.substring(colon + 1).strip();
        if (value.chars().anyMatch(c -> c < ' ' || c > '~')) {
            throw new IllegalArgumentException(
                    "The value of " + line.substring(0, colon) + " has a character that a header cannot have.");
        }
        return new HeaderLine(line.substring(0, colon), value);
    }

    /** Whether this is a line of that header. */
    public boolean is(String header) {
        return name.equalsIgnoreCase(header);
    }

    /** For people: without credentials, and with control characters made visible. */
    public String shown() {
        String lower = name.toLowerCase(Locale.ROOT);
        boolean secret = CREDENTIALS.contains(lower) || SECRET.matcher(lower).find();
        return name + ": " + (secret ? "(hidden)" : Printable.of(value));
    }
}
