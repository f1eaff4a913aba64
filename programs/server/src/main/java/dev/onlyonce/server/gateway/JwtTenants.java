package dev.onlyonce.server.gateway;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import dev.onlyonce.http.Headers;
import dev.onlyonce.server.config.Tenancy;
import dev.onlyonce.store.Time;
import io.vertx.core.net.HostAndPort;
import java.io.IOException;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tenants by a claim of a signed token. Only asymmetric signatures are accepted: a key set is public. Verified tokens are
 * remembered for a while, because checking a signature costs more than everything else.
 */
final class JwtTenants implements Tenants {
    private static final int REMEMBERED_MAX = 10_000;
    private static final Duration REMEMBERED_FOR = Duration.ofMinutes(1);
    private static final int TOKEN_CHARS_MAX = 8 << 10;

    private final String claim;
    private final Time time;
    private final DefaultJWTProcessor<SecurityContext> processor = new DefaultJWTProcessor<>();
    private final Cache<String, Verified> verified = Caffeine.newBuilder()
            .maximumSize(REMEMBERED_MAX)
            .expireAfterWrite(REMEMBERED_FOR)
            .build();

    private record Verified(String tenant, Instant until) {}

    JwtTenants(Tenancy.Jwt jwt, Time time) {
        this.time = time;
        claim = jwt.claim();
        JWKSet keys;
        try {
            keys = JWKSet.load(jwt.keySet().toFile());
        } catch (IOException | ParseException e) {
            throw new IllegalArgumentException("the key set " + jwt.keySet() + " cannot be read: " + e.getMessage(), e);
        }
        if (keys.getKeys().isEmpty()) {
            throw new IllegalArgumentException("the key set " + jwt.keySet() + " has no keys");
        }
        Set<JWSAlgorithm> algorithms = Set.of(
                JWSAlgorithm.RS256,
                JWSAlgorithm.RS384,
                JWSAlgorithm.RS512,
                JWSAlgorithm.PS256,
                JWSAlgorithm.PS384,
                JWSAlgorithm.PS512,
                JWSAlgorithm.ES256,
                JWSAlgorithm.ES384,
                JWSAlgorithm.ES512);
        processor.setJWSKeySelector(new JWSVerificationKeySelector<>(algorithms, new ImmutableJWKSet<>(keys)));
        // Access tokens have a type of their own (RFC 9068), others "JWT" or none.
        processor.setJWSTypeVerifier(
                new DefaultJOSEObjectTypeVerifier<>(JOSEObjectType.JWT, new JOSEObjectType("at+jwt"), null));
        JWTClaimsSet.Builder exact = new JWTClaimsSet.Builder();
        if (jwt.issuer() != null) {
            exact.issuer(jwt.issuer());
        }
        processor.setJWTClaimsSetVerifier(new DefaultJWTClaimsVerifier<>(
                jwt.audience() == null ? null : new HashSet<>(Set.of(jwt.audience())),
                exact.build(),
                new HashSet<>(List.of("exp", claim)),
                null));
    }

    @Override
    public Optional<String> of(Headers headers, String peer, @Nullable HostAndPort host) {
        List<String> sent = headers.values("Authorization");
        if (sent.size() != 1 || sent.get(0).length() > TOKEN_CHARS_MAX) {
            return Optional.empty();
        }
        String token = Tenants.withoutScheme(sent.get(0));
        Verified known = verified.getIfPresent(token);
        if (known == null) {
            known = verify(token);
        }
        return known == null || !known.until.isAfter(time.now()) ? Optional.empty() : Optional.of(known.tenant);
    }

    private @Nullable Verified verify(String token) {
        try {
            SignedJWT signed = SignedJWT.parse(token);
            JWTClaimsSet claims = processor.process(signed, null);
            // Not from the claims: the library makes a text of a numeric sub, and 7 is not "7".
            Object named = signed.getPayload().toJSONObject().get(claim);
            if (!(named instanceof String tenant) || tenant.isEmpty()) {
                return null;
            }
            Verified fresh = new Verified(tenant, claims.getExpirationTime().toInstant());
            verified.put(token, fresh);
            return fresh;
        } catch (ParseException | BadJOSEException | JOSEException e) {
            return null;
        }
    }
}
