package dev.onlyonce.server.gateway;

import dev.onlyonce.Key;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HostNames;
import dev.onlyonce.server.config.Network;
import dev.onlyonce.server.config.Tenancy;
import dev.onlyonce.store.Time;
import io.vertx.core.net.HostAndPort;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Whose a request is. Thread-safe; does not block. */
@FunctionalInterface
public interface Tenants {
    /** The tenant of callers that name no host. */
    String EVERYBODY = "default";

    /**
     * The tenant, or nothing if the request proves none.
     *
     * @param peer the address that the connection comes from
     * @param host whom the client wants to speak to
     */
    Optional<String> of(Headers headers, String peer, @Nullable HostAndPort host);

    /** As configured; throws {@link IllegalArgumentException} if a key set cannot be used. */
    static Tenants of(Tenancy tenancy, Time time) {
        Tenants named = named(tenancy, time);
        return (headers, peer, host) -> named.of(headers, peer, host).filter(Tenants::isName);
    }

    /** What cannot be stored is nobody's name: from a header or a token, anything may come. */
    private static boolean isName(String tenant) {
        try {
            Key.checkName("tenant", tenant);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static Tenants named(Tenancy tenancy, Time time) {
        if (tenancy instanceof Tenancy.Shared shared) {
            Optional<String> fixed = Optional.ofNullable(shared.fixed());
            return (headers, peer, host) -> fixed.isPresent() ? fixed : Optional.of(byHost(host));
        } else if (tenancy instanceof Tenancy.ApiKeys keys) {
            return byApiKey(keys);
        } else if (tenancy instanceof Tenancy.TrustedHeader header) {
            return byTrustedHeader(header);
        }
        return new JwtTenants((Tenancy.Jwt) tenancy, time);
    }

    /**
     * Who is meant by a host name: other names, and other ports, are other shops. An address only says how this machine is
     * reached.
     */
    static String byHost(@Nullable HostAndPort authority) {
        if (authority == null || authority.host().isEmpty() || HostNames.isMachine(authority.host())) {
            return EVERYBODY;
        }
        String name = HostNames.normal(authority.host());
        boolean usual = authority.port() <= 0 || authority.port() == 80 || authority.port() == 443;
        return usual ? name : name + ":" + authority.port();
    }

    private static Tenants byApiKey(Tenancy.ApiKeys keys) {
        Map<String, String> tenants = Map.copyOf(keys.tenants());
        return (headers, peer, host) -> {
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
        return (headers, peer, host) -> {
            List<String> sent = headers.values(header.header());
            boolean trusted = from.stream().anyMatch(network -> network.contains(peer));
            return trusted && sent.size() == 1 && !sent.get(0).isEmpty() ? Optional.of(sent.get(0)) : Optional.empty();
        };
    }
}
