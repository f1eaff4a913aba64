package dev.onlyonce.http;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Where callers send what proves who they are: headers, and single cookies.
 *
 * <p>Of the header {@code Cookie}, all cookies count in any order, except those of load balancers, bot protection and analytics: they
 * change between two tries of one caller, and prove nothing about anybody.
 */
final class Credentials {
    /** The header {@code Cookie} as a whole. */
    private static final String COOKIE = "cookie";
    /** A single cookie. */
    private static final String ONE_COOKIE = COOKIE + ":";

    /**
     * The cookies that are not compared, by their whole names: what only begins like one may be a session, such as {@code
     * _game_session} or the {@code AWSELBAuthSessionCookie} of a load balancer that logs users in.
     */
    private static final Pattern PASSING = Pattern.compile(String.join(
            "|",
            // Load balancers: AWS, Azure, F5.
            "AWSALB(?:TG)?(?:CORS)?|AWSALBAPP-[0-9]+|AWSELB(?:CORS)?",
            "ARRAffinity(?:SameSite)?",
            "BIGipServer.*",
            // Bot protection: Cloudflare, Imperva.
            "__cf_bm|__cfruid|_cfuvid",
            "incap_ses_[0-9_]+|visid_incap_[0-9]+|nlbi_[0-9_]+",
            // Analytics: Google, Meta, Hotjar.
            "_ga(?:_[A-Z0-9]+)?|_gid|_gat(?:_UA-[0-9-]+|_gtag_UA_[0-9_]+)?|_gac_UA-[0-9-]+|_gcl_[a-z]{2}",
            "_fbp",
            "_hj(?:id|[A-Z][A-Za-z]*(?:_[0-9]+)?)"));

    private final List<String> names;

    /** Names of headers, or {@code cookie:} and the name of a cookie. */
    Credentials(List<String> names) {
        this.names = names.stream()
                .map(name -> isOneCookie(name) ? ONE_COOKIE + name.substring(ONE_COOKIE.length()) : lower(name))
                .distinct()
                .sorted()
                .toList();
    }

    boolean areCompared() {
        return !names.isEmpty();
    }

    /** A text that callers with other credentials cannot make. */
    String shown(Headers headers) {
        StringBuilder shown = new StringBuilder();
        for (String name : names) {
            for (String value : values(name, headers)) {
                // With its length, so that no two sets of header lines give the same text.
                shown.append(name).append(' ').append(value.length()).append(' ');
                shown.append(value).append('\n');
            }
        }
        return shown.toString();
    }

    private static List<String> values(String name, Headers headers) {
        if (name.equals(COOKIE)) {
            return cookies(headers).stream()
                    .filter(cookie -> !isPassing(cookie))
                    .sorted()
                    .toList();
        }
        return isOneCookie(name)
                ? cookies(headers).stream()
                        .filter(cookie -> cookie.startsWith(name.substring(ONE_COOKIE.length()) + "="))
                        .toList()
                : headers.values(name);
    }

    /** As {@code name=value}. */
    private static List<String> cookies(Headers headers) {
        List<String> cookies = new ArrayList<>();
        for (String line : headers.values(COOKIE)) {
            for (String cookie : line.split(";")) {
                if (!cookie.isBlank()) {
                    cookies.add(cookie.strip());
                }
            }
        }
        return cookies;
    }

    private static boolean isPassing(String cookie) {
        int end = cookie.indexOf('=');
        return PASSING.matcher(end < 0 ? cookie : cookie.substring(0, end)).matches();
    }

    private static boolean isOneCookie(String name) {
        return name.regionMatches(true, 0, ONE_COOKIE, 0, ONE_COOKIE.length());
    }

    private static String lower(String name) {
        return name.toLowerCase(Locale.ROOT);
    }
}
