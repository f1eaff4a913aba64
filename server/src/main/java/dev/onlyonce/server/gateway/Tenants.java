package dev.onlyonce.server.gateway;

import dev.onlyonce.http.Headers;
import dev.onlyonce.internal.KeyRules;
import dev.onlyonce.server.config.Network;
import dev.onlyonce.server.config.Tenancy;
import dev.onlyonce.store.Time;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Whose a request is. Thread-safe; does not block. */
@FunctionalInterface
public interface Tenants {

    /**
     * The tenant, or nothing if the request proves none.
     *
     * @param peer the address that the connection comes from
     */
    Optional<String> of(Headers headers, String peer);

    /** As configured; throws {@link IllegalArgumentException} if a key set cannot be used. */
    static Tenants of(Tenancy tenancy, Time time) {
        Tenants named = named(tenancy, time);
        return (headers, peer) -> named.of(headers, peer).filter(Tenants::isName);
    }

    /** What cannot be stored is nobody's name: from a header or a token, anything may come. */
    private static boolean isName(String tenant) {
        try {
            KeyRules.checkName("tenant", tenant);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static Tenants named(Tenancy tenancy, Time time) {
        if (tenancy instanceof Tenancy.Fixed fixed) {
            Optional<String> tenant = Optional.of(fixed.tenant());
            return (headers, peer) -> tenant;
        } else if (tenancy instanceof Tenancy.ApiKeys keys) {
            return byApiKey(keys);
        } else if (tenancy instanceof Tenancy.TrustedHeader header) {
            return byTrustedHeader(header);
        }
        return new JwtTenants((Tenancy.Jwt) tenancy, time);
    }

    private static Tenants byApiKey(Tenancy.ApiKeys keys) {
        Map<String, String> tenants = Map.copyOf(keys.tenants());
        return (headers, peer) -> {
            List<String> sent = headers.values(keys.header());
            if (sent.size() != 1) {
                return Optional.empty();
            }
            // What is compared is a hash of the whole key: how long that takes tells nothing about other keys.
            return Optional.ofNullable(tenants.get(sha256(withoutScheme(sent.get(0)))));
        };
    }

    /** Of {@code Bearer abc}, what follows the scheme. */
    static String withoutScheme(String value) {
        boolean bearer = value.regionMatches(true, 0, "Bearer ", 0, 7);
        return bearer ? value.substring(7).trim() : value;
    }

    private static String sha256(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    private static Tenants byTrustedHeader(Tenancy.TrustedHeader header) {
        List<Network> from = header.from();
        return (headers, peer) -> {
            List<String> sent = headers.values(header.header());
            boolean trusted = from.stream().anyMatch(network -> network.contains(peer));
            return trusted && sent.size() == 1 && !sent.get(0).isEmpty() ? Optional.of(sent.get(0)) : Optional.empty();
        };
    }
}
