package dev.onlyonce.server.proxy;

import dev.onlyonce.server.config.Network;
import dev.onlyonce.server.config.Tenancy;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Header lines that must not reach the service, because it would believe them: the tenant's header from anybody but the proxy
 * that may set it, what only the gateway says, and other spellings. CGI and its successors read {@code X_Tenant}, some of them
 * {@code X.Tenant} too, and {@code X-Tenant} as the same variable, so a client could say the one past everybody who looks at
 * the other.
 */
public final class ReservedHeaders {
    /** Only the gateway says which attempt this is. */
    private static final String ATTEMPT = "idempotency-attempt";

    private static final Set<String> ALWAYS = Set.of(
            ATTEMPT,
            "authorization",
            "connection",
            "content-length",
            "cookie",
            "forwarded",
            "host",
            "idempotency-key",
            "transfer-encoding",
            "via",
            "x-forwarded-for",
            "x-forwarded-host",
            "x-forwarded-port",
            "x-forwarded-proto");

    private final Set<String> names = new HashSet<>(ALWAYS);
    private final Set<String> dashed = new HashSet<>(ALWAYS);
    private final Tenancy.@Nullable TrustedHeader tenant;

    /**
     * Guards what every gateway must, and more.
     *
     * @param names headers that say who the client is
     * @param tenant the tenant's header, and who may set it; none if tenants are known otherwise
     */
    public ReservedHeaders(List<String> names, Tenancy.@Nullable TrustedHeader tenant) {
        for (String name : names) {
            this.names.add(name.toLowerCase(Locale.ROOT));
            this.dashed.add(dashed(name.toLowerCase(Locale.ROOT)));
        }
        this.tenant = tenant;
    }

    /** Whether a line from this peer is dropped; the name is in lower case. */
    boolean drops(String name, String peer) {
        boolean otherSpelling = !names.contains(name) && dashed.contains(dashed(name));
        return otherSpelling
                || name.equals(ATTEMPT)
                || (tenant != null && name.equalsIgnoreCase(tenant.header()) && !isTrusted(peer));
    }

    /** Whether this line stays even if the client's {@code Connection} line names it; the name is in lower case. */
    boolean keeps(String name) {
        return names.contains(name);
    }

    private static String dashed(String name) {
        StringBuilder dashed = new StringBuilder(name.length());
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            dashed.append((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '-');
        }
        return dashed.toString();
    }

    private boolean isTrusted(String peer) {
        for (Network network : tenant == null ? List.<Network>of() : tenant.from()) {
            if (network.contains(peer)) {
                return true;
            }
        }
        return false;
    }
}
