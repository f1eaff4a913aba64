package dev.onlyonce.server.config;

import dev.onlyonce.http.Limits;
import dev.onlyonce.http.Operation;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All settings of a gateway.
 *
 * @param listen where clients are let in
 * @param admin where operators are let in
 * @param upstreams where requests go
 * @param protection what is protected, and for whom
 * @param store where entries are kept
 * @param cache a cache that all gateways on the store share; none for each its own
 * @param data the directory for what the gateway keeps itself
 * @param node this gateway's name in entries and the audit; none for {@code host:pid}
 * @param observe what it tells about itself
 */
public record Settings(
        Listen listen,
        Admin admin,
        List<Upstream> upstreams,
        Protection protection,
        StoreSettings store,
        @Nullable CacheSettings cache,
        Path data,
        @Nullable String node,
        Observe observe) {

    /** What is wrong if {@link #isSamePort}. */
    public static final String SAME_PORT =
            "clients and operators would share a port; give admin another port than listen, or 0 for any free one";

    /** Whether clients and operators are let in at one port. */
    public static boolean isSamePort(Listen listen, Admin admin) {
        return listen.port() != 0 && listen.port() == admin.port();
    }

    /**
     * Where operators are let in.
     *
     * @param host the address to bind: loopback unless configured otherwise
     * @param port the port; 0 for one that the system chooses
     * @param tokenFile the credential; none for {@code admin-token} in the data directory, made at the first start
     * @param names the host names by which operators and monitoring may ask, besides addresses and {@code localhost}. A page
     *     in an operator's browser can have any other name resolve to this listener
     * @param console what is shown to whom
     */
    public record Admin(String host, int port, @Nullable Path tokenFile, List<String> names, Console console) {}

    /**
     * What the console shows to whom.
     *
     * @param readTokenFile the credential of those who may only look; none for {@code admin-read-token} in the data directory
     * @param wholeKeys whether those who may only look see keys whole
     * @param payloads who sees stored responses and the payloads of calls
     */
    public record Console(@Nullable Path readTokenFile, boolean wholeKeys, Payloads payloads) {
        /** Keys are shortened for those who may only look, and payloads are the operators'. */
        public static Console standard() {
            return new Console(null, false, Payloads.OPERATORS);
        }
    }

    /** Who sees stored responses and the payloads of calls. */
    public enum Payloads {
        /** Everybody who is let in. */
        EVERYBODY,
        /** Those with the operators' credential. */
        OPERATORS,
        /** Nobody. */
        NOBODY
    }

    /**
     * What is protected, and for whom.
     *
     * @param operations in the order in which they are tried
     * @param lookUps by the name of the operation
     * @param tenancy whose a request is
     * @param limits of each tenant
     * @param refusals what is not let through
     */
    public record Protection(
            List<Operation> operations,
            Map<String, LookUp> lookUps,
            Tenancy tenancy,
            Limits limits,
            Refusals refusals) {}

    /**
     * What is not let through.
     *
     * @param unmatched POST and PATCH requests that no operation matches
     * @param ambiguousPaths paths that servers may take for different operations; if they are let through, they are protected
     */
    public record Refusals(boolean unmatched, boolean ambiguousPaths) {
        /** Unmatched requests pass, ambiguous paths do not. */
        public static Refusals standard() {
            return new Refusals(false, true);
        }
    }

    /**
     * What the gateway tells about itself.
     *
     * @param jsonLogs whether log lines are JSON objects
     * @param tenantTagsMax how many tenants get metrics of their own; the others share one
     * @param otlpEndpoint where traces go; none for nowhere
     */
    public record Observe(
            boolean jsonLogs, int tenantTagsMax, @Nullable String otlpEndpoint) {}
}
