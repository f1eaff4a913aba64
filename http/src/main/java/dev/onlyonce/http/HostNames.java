package dev.onlyonce.http;

import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the host in a URL stands for. */
public final class HostNames {
    /** A name, an IPv4 address, or an IPv6 address in brackets, and a port. Browsers send other things too, as they are. */
    private static final Pattern AUTHORITY = Pattern.compile("(\\[[0-9A-Fa-f:.]+]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?");

    private static final int PORT_MAX = 65_535;

    private HostNames() {}

    /** The host in the value of a {@code Host} header; empty if that is no proper one. */
    public static Optional<String> ofAuthority(String authority) {
        Matcher parts = AUTHORITY.matcher(authority);
        return parts.matches() && (parts.group(2) == null || Integer.parseInt(parts.group(2)) <= PORT_MAX)
                ? Optional.of(parts.group(1))
                : Optional.empty();
    }

    /** One spelling for each host: in lower case, without a dot at the end. */
    public static String normal(String host) {
        String lower = host.toLowerCase(Locale.ROOT);
        return lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower;
    }

    /** Whether it says how a machine is reached, an address or {@code localhost}, rather than who is meant. */
    public static boolean isMachine(String host) {
        String name = normal(host);
        return name.equals("localhost") || name.startsWith("[") || name.indexOf(':') >= 0 || isIpv4(name);
    }

    private static boolean isIpv4(String name) {
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c != '.' && (c < '0' || c > '9')) {
                return false;
            }
        }
        return !name.isEmpty();
    }
}
