package dev.onlyonce.server.config;

import java.util.Locale;

/** What the host in a URL stands for. */
public final class HostNames {
    private HostNames() {}

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
