package dev.onlyonce.server.config;

import dev.onlyonce.http.Boundary;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How it is known which tenant a request belongs to. */
public sealed interface Tenancy {
    /**
     * Tenants are not configured: callers share theirs, and their credentials are compared instead.
     *
     * @param fixed the tenant that everything belongs to; none for one for each host name that clients ask for, because those
     *     are different shops
     * @param credentials the headers, and single cookies, in which callers send them; empty for not compared
     */
    record Shared(@Nullable String fixed, List<String> credentials) implements Tenancy {
        /** What the name of a single cookie follows. */
        static final String COOKIE = "cookie:";

        /** How callers are told apart by default. */
        public static Shared standard() {
            return new Shared(null, Boundary.CREDENTIALS);
        }

        /** The headers that credentials are in. */
        public List<String> headers() {
            return credentials.stream()
                    .map(name -> isCookie(name) ? "Cookie" : name)
                    .toList();
        }

        static boolean isCookie(String name) {
            return name.regionMatches(true, 0, COOKIE, 0, COOKIE.length());
        }

        /** What to know about it, for the operator. */
        @Override
        public String toString() {
            String whose = fixed == null ? "each host name has keys of its own" : "all keys belong to " + fixed;
            return "no tenants are configured: " + whose + ", and "
                    + (credentials.isEmpty()
                            ? "anybody who knows a key gets its stored answer (credentials: [])"
                            : "a stored answer is only for a caller with the same " + String.join(", ", credentials));
        }
    }

    /**
     * By an API key. Only hashes are configured, so the file gives nothing away.
     *
     * @param header where clients send it; of {@code Authorization}, a leading {@code Bearer} is left out
     * @param tenants by the SHA-256 of the key, in lower-case hexadecimal digits
     */
    record ApiKeys(String header, Map<String, String> tenants) implements Tenancy {}

    /**
     * By a claim of a signed token in {@code Authorization: Bearer}.
     *
     * @param claim which claim names the tenant
     * @param keySet the public keys, a JWK set
     * @param issuer whose tokens are accepted; none for anybody's whose key is in the set
     * @param audience for whom the token must be; none for not checked
     */
    record Jwt(
            String claim,
            Path keySet,
            @Nullable String issuer,
            @Nullable String audience) implements Tenancy {}

    /**
     * By a header that a front proxy sets after it has authenticated the client.
     *
     * @param from where that proxy is: from anywhere else the header is not believed
     */
    record TrustedHeader(String header, List<Network> from) implements Tenancy {}
}
