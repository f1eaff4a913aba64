package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The tenant of a request")
class TenantsTest {
    @TempDir
    Path folder;

    private CountingUpstream upstream;
    private Running gateway;

    @BeforeEach
    void start() {
        upstream = new CountingUpstream();
    }

    @AfterEach
    void stop() {
        gateway.close();
        upstream.close();
    }

    private int status(String header, String value) throws Exception {
        HttpRequest.Builder request =
                gateway.request("/payments", "k1").POST(HttpRequest.BodyPublishers.ofString("{}"));
        if (header != null) {
            request.header(header, value);
        }
        return gateway.send(request).statusCode();
    }

    static String sha256(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    @DisplayName("K7 comes from an API key that is known by its hash; two tenants with one key never meet")
    void apiKey() throws Exception {
        gateway = Running.start(
                folder,
                upstream.url(),
                "tenants: {api-key: {header: Authorization, sha256: {" + sha256("one") + ": acme, " + sha256("two")
                        + ": other}}}");
        assertThat(status(null, null)).isEqualTo(401);
        assertThat(status("Authorization", "Bearer wrong")).isEqualTo(401);
        assertThat(upstream.effects("k1")).isZero();
        assertThat(status("Authorization", "Bearer one")).isEqualTo(201);
        assertThat(status("Authorization", "Bearer one")).isEqualTo(201);
        assertThat(upstream.effects("k1")).isEqualTo(1);
        assertThat(status("Authorization", "Bearer two")).isEqualTo(201);
        assertThat(upstream.effects("k1")).isEqualTo(2);
    }

    @Test
    @DisplayName("is the same for all where it is fixed")
    void fixed() throws Exception {
        gateway = Running.start(folder, upstream.url(), "tenants: {fixed: shop}");
        assertThat(status(null, null)).isEqualTo(201);
        assertThat(gateway.send(HttpRequest.newBuilder(gateway.admin("/metrics")))
                        .body())
                .contains("api_idempotency_reserve_created_total{operation=\"POST /**\",tenant=\"shop\"} 1.0");
    }

    @Test
    @DisplayName("S1 has metrics of its own, up to a bound; the rest are counted together")
    void tags() throws Exception {
        gateway = Running.start(
                folder,
                upstream.url(),
                "tenants: {header: {name: X-Tenant, from: [127.0.0.0/8]}}\nobserve: {tenant-tags-max: 2}");
        for (String tenant : new String[] {"a", "b", "c", "d"}) {
            assertThat(status("X-Tenant", tenant)).isEqualTo(201);
        }
        assertThat(gateway.send(HttpRequest.newBuilder(gateway.admin("/metrics")))
                        .body())
                .contains("tenant=\"a\"} 1.0", "tenant=\"b\"} 1.0", "tenant=\"(others)\"} 2.0")
                .doesNotContain("tenant=\"c\"");
    }

    @Test
    @DisplayName("comes from a header only if a trusted proxy sent it")
    void header() throws Exception {
        gateway = Running.start(folder, upstream.url(), "tenants: {header: {name: X-Tenant, from: [10.0.0.0/8]}}");
        assertThat(status("X-Tenant", "acme")).isEqualTo(401);
        gateway.close();
        gateway = Running.start(folder, upstream.url(), "tenants: {header: {name: X-Tenant, from: [127.0.0.0/8]}}");
        assertThat(status("X-Tenant", "acme")).isEqualTo(201);
        assertThat(status(null, null)).isEqualTo(401);
        assertThat(status("X-Tenant", "x".repeat(256)))
                .as("longer than can be stored")
                .isEqualTo(401);
    }

    @Test
    @DisplayName("comes from a claim of a token that is signed with a key of the set, is not expired, and is for us")
    void jwt() throws Exception {
        ECKey key = new ECKeyGenerator(Curve.P_256).keyID("1").generate();
        ECKey stranger = new ECKeyGenerator(Curve.P_256).keyID("1").generate();
        Files.writeString(folder.resolve("keys.json"), new JWKSet(key.toPublicJWK()).toString());
        gateway = Running.start(
                folder,
                upstream.url(),
                "tenants: {jwt: {claim: org, key-set: keys.json, issuer: https://login.example, audience: payments}}");
        JWTClaimsSet good = claims("https://login.example", "payments", Duration.ofMinutes(5));
        assertThat(status("Authorization", "Bearer " + signed(key, good))).isEqualTo(201);
        assertThat(status("Authorization", "Bearer " + signed(key, good, "at+jwt")))
                .as("an access token of RFC 9068")
                .isEqualTo(201);
        assertThat(status("Authorization", "Bearer " + signed(key, good, "logout+jwt")))
                .isEqualTo(401);
        assertThat(status("Authorization", "Bearer " + signed(stranger, good))).isEqualTo(401);
        assertThat(status(
                        "Authorization",
                        "Bearer " + signed(key, claims("https://evil", "payments", Duration.ofMinutes(5)))))
                .isEqualTo(401);
        assertThat(status(
                        "Authorization",
                        "Bearer " + signed(key, claims("https://login.example", "x", Duration.ofMinutes(5)))))
                .isEqualTo(401);
        assertThat(status(
                        "Authorization",
                        "Bearer " + signed(key, claims("https://login.example", "payments", Duration.ofMinutes(-5)))))
                .isEqualTo(401);
        assertThat(status("Authorization", "Bearer " + new PlainJWT(good).serialize()))
                .isEqualTo(401);
        SignedJWT confused = new SignedJWT(new JWSHeader(JWSAlgorithm.HS256), good);
        confused.sign(new MACSigner(key.toPublicJWK().toString()));
        assertThat(status("Authorization", "Bearer " + confused.serialize())).isEqualTo(401);
        assertThat(status("Authorization", "Bearer nonsense")).isEqualTo(401);
        assertThat(upstream.effects("k1")).isEqualTo(1);
    }

    @Test
    @DisplayName("K7 is a text: the number 7 in a token is nobody's name, not even where the claim is sub")
    void numericClaim() throws Exception {
        ECKey key = new ECKeyGenerator(Curve.P_256).keyID("1").generate();
        Files.writeString(folder.resolve("keys.json"), new JWKSet(key.toPublicJWK()).toString());
        gateway = Running.start(folder, upstream.url(), "tenants: {jwt: {key-set: keys.json}}");
        for (String subject : new String[] {"7", "true", "[\"7\"]", "null", "\"\""}) {
            assertThat(status("Authorization", "Bearer " + raw(key, subject)))
                    .as(subject)
                    .isEqualTo(401);
        }
        assertThat(status("Authorization", "Bearer " + raw(key, "\"7\""))).isEqualTo(201);
    }

    /** Not by way of a claims set, which would make a text of a number. */
    private static String raw(ECKey key, String subject) throws Exception {
        long expires = Instant.now().plus(Duration.ofMinutes(5)).getEpochSecond();
        JWSObject token = new JWSObject(
                new JWSHeader.Builder(JWSAlgorithm.ES256).keyID(key.getKeyID()).build(),
                new Payload("{\"sub\":" + subject + ",\"exp\":" + expires + "}"));
        token.sign(new ECDSASigner(key));
        return token.serialize();
    }

    private static JWTClaimsSet claims(String issuer, String audience, Duration left) throws Exception {
        // Parsed, because the library's setter wants a kind of date that nobody else here uses.
        return JWTClaimsSet.parse("{\"iss\":\"" + issuer + "\",\"aud\":\"" + audience + "\",\"org\":\"acme\",\"exp\":"
                + Instant.now().plus(left).getEpochSecond() + "}");
    }

    private static String signed(ECKey key, JWTClaimsSet claims) throws Exception {
        return signed(key, claims, "JWT");
    }

    private static String signed(ECKey key, JWTClaimsSet claims, String type) throws Exception {
        SignedJWT token = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.ES256)
                        .keyID(key.getKeyID())
                        .type(new JOSEObjectType(type))
                        .build(),
                claims);
        token.sign(new ECDSASigner(key));
        return token.serialize();
    }
}
