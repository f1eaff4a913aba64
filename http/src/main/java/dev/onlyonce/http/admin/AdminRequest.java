package dev.onlyonce.http.admin;

import dev.onlyonce.http.Headers;
import dev.onlyonce.http.PercentCoding;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The head of a request to the operators' interface.
 *
 * @param method in upper case
 * @param mount where the interface begins, such as {@code /console}; empty for the root
 * @param path what follows the mount, without the query
 * @param query what follows the question mark, as it was sent
 * @param peer who is at the other end
 */
public record AdminRequest(
        String method, String mount, String path, @Nullable String query, Headers headers, Peer peer) {
    private static final Pattern MALFORMED = Pattern.compile("%(?![0-9a-fA-F]{2})");
    /** What decoding puts in place of bytes that are not UTF-8. */
    private static final char REPLACEMENT = '\ufffd';

    private static final Pattern REPLACEMENT_SENT = Pattern.compile("(?i)%ef%bf%bd");

    /**
     * The other end of the connection.
     *
     * @param address of the client, for slowing down those who guess
     * @param loopback whether both ends are on this machine's loopback interface, and no proxy is between them
     * @param secure whether it is encrypted
     * @param name whom the application has authenticated; null for nobody
     * @param role what the application lets that one do; null for nothing
     */
    public record Peer(
            String address,
            boolean loopback,
            boolean secure,
            @Nullable String name,
            Caller.@Nullable Role role) {
        /** Whom no application has authenticated. */
        public Peer(String address, boolean loopback, boolean secure) {
            this(address, loopback, secure, null, null);
        }
    }

    /** The value of a parameter, decoded; null if it is missing or empty. */
    @Nullable
    String parameter(String name) {
        String value = parameters().get(name);
        return value == null || value.isEmpty() ? null : value;
    }

    private Map<String, String> parameters() {
        Map<String, String> parameters = new LinkedHashMap<>();
        if (query != null) {
            for (String part : query.split("&")) {
                int equals = part.indexOf('=');
                String name = decode(equals < 0 ? part : part.substring(0, equals));
                String value = equals < 0 ? "" : decode(part.substring(equals + 1));
                if (parameters.put(name, value) != null) {
                    throw new IllegalArgumentException("a parameter of the query stands there twice");
                }
            }
        }
        return parameters;
    }

    /** What is not encoded well would look for another key than the one that was meant. */
    private static String decode(String text) {
        String decoded = PercentCoding.decode(text.replace('+', ' '));
        boolean broken = decoded.indexOf(REPLACEMENT) >= 0
                && !REPLACEMENT_SENT.matcher(text).find();
        if (broken || MALFORMED.matcher(text).find()) {
            throw new IllegalArgumentException("the query is not UTF-8 in percent-encoding");
        }
        return decoded;
    }

    /** A number, or another one if there is none; throws {@link IllegalArgumentException} if it is none. */
    long number(String name, long otherwise) {
        String number = parameter(name);
        try {
            return number == null ? otherwise : Long.parseLong(number);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("\"" + name + "\" is not a number", e);
        }
    }

    /** The host that it was sent to; empty if it names none or several. */
    Optional<String> host() {
        List<String> hosts = headers.values("Host");
        return hosts.size() == 1 ? Optional.of(hosts.get(0)) : Optional.empty();
    }

    /** The value of a cookie. */
    Optional<String> cookie(String name) {
        for (String line : headers.values("Cookie")) {
            for (String pair : line.split(";")) {
                String trimmed = pair.trim();
                if (trimmed.startsWith(name + "=")) {
                    return Optional.of(trimmed.substring(name.length() + 1));
                }
            }
        }
        return Optional.empty();
    }

    /**
     * Whether the page that sent it is ours, or no page: a browser says where a request comes from, other programs need not. Behind a
     * host check, this is what keeps other sites' pages out.
     */
    boolean isSameOrigin() {
        Optional<String> site = headers.first("Sec-Fetch-Site");
        if (site.isPresent()) {
            return site.get().equals("same-origin") || site.get().equals("none");
        }
        Optional<String> origin = headers.first("Origin");
        return origin.isEmpty()
                || host().map(host -> origin.get().equalsIgnoreCase("http://" + host)
                                || origin.get().equalsIgnoreCase("https://" + host))
                        .orElse(false);
    }
}
