package dev.onlyonce.server.config;

import java.util.Locale;
import java.util.regex.Pattern;

/** What the host in a URL stands for. */
public final class HostNames {
    /** IPv4, or IPv6 with or without its brackets. */
    private static final Pattern ADDRESS = Pattern.compile("[0-9.]+|.*:.*|\\[.*");

    private HostNames() {}

    /** One spelling for each host: in lower case, without a dot at the end. */
    public static String normal(String host) {
        String lower = host.toLowerCase(Locale.ROOT);
        return lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower;
    }

    /** Whether it says how a machine is reached, an address or {@code localhost}, rather than who is meant. */
    public static boolean isMachine(String host) {
        String name = normal(host);
        return name.equals("localhost") || ADDRESS.matcher(name).matches();
    }
}
