package dev.onlyonce.server.config;

import com.nimbusds.jose.jwk.JWKSet;
import dev.onlyonce.Key;
import dev.onlyonce.http.Boundary;
import java.io.IOException;
import java.nio.file.Path;
import java.text.ParseException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** {@code tenants}: exactly one of the ways to know whose a request is. */
final class TenancySection {
    private static final List<String> WAYS = List.of("fixed", "api-key", "jwt", "header");
    private static final Pattern SHA_256 = Pattern.compile("[0-9a-f]{64}");

    private final @Nullable Section section;

    TenancySection(@Nullable Section section) {
        this.section = section;
    }

    Tenancy read() {
        if (section == null) {
            return Tenancy.Shared.standard();
        }
        List<String> given = WAYS.stream().filter(section::has).toList();
        boolean compares = section.has("credentials");
        if (given.size() > 1 || (given.isEmpty() && !compares)) {
            section.wrong("give exactly one of " + String.join(", ", WAYS));
        }
        if (compares && !given.isEmpty() && !given.equals(List.of("fixed"))) {
            section.wrong(
                    "credentials", "they are compared where callers share a tenant; remove it, or " + given.get(0));
        }
        Tenancy tenancy = shared(section, compares);
        Section apiKey = section.section("api-key");
        Section jwt = section.section("jwt");
        Section header = section.section("header");
        if (apiKey != null) {
            tenancy = apiKeys(apiKey);
        } else if (jwt != null) {
            tenancy = jwt(jwt);
        } else if (header != null) {
            tenancy = header(header);
        }
        section.end();
        return tenancy;
    }

    private static Tenancy shared(Section section, boolean compares) {
        List<String> credentials = compares ? section.texts("credentials") : Boundary.CREDENTIALS;
        credentials.forEach(name -> section.header(
                "credentials", Tenancy.Shared.isCookie(name) ? name.substring(Tenancy.Shared.COOKIE.length()) : name));
        String fixed = section.text("fixed");
        return new Tenancy.Shared(fixed == null ? null : name(section, "fixed", fixed), credentials);
    }

    private static String name(Section section, String key, String tenant) {
        try {
            Key.checkName("a tenant's name", tenant);
        } catch (IllegalArgumentException e) {
            section.wrong(key, String.valueOf(e.getMessage()));
        }
        return tenant;
    }

    private static Tenancy apiKeys(Section section) {
        Map<String, String> tenants = new LinkedHashMap<>();
        section.map("sha256").forEach((hash, tenant) -> {
            String digits = hash.toLowerCase(Locale.ROOT);
            if (SHA_256.matcher(digits).matches()) {
                tenants.put(digits, name(section, "sha256", tenant));
            } else {
                section.wrong(
                        "sha256", "\"" + hash + "\" is not a SHA-256; make one with: printf %s \"$KEY\" | sha256sum");
            }
        });
        if (tenants.isEmpty()) {
            section.wrong("\"sha256\" is missing; write for each key its SHA-256 and its tenant: {<64 digits>: acme}");
        }
        Tenancy tenancy = new Tenancy.ApiKeys(section.header("header", section.text("header", "X-Api-Key")), tenants);
        section.end();
        return tenancy;
    }

    private static Tenancy jwt(Section section) {
        Path keySet = section.file("key-set", TenancySection::checkKeySet);
        if (keySet == null && !section.has("key-set")) {
            section.wrong("\"key-set\" is missing; write the name of a file with a JWK set");
        }
        Tenancy tenancy = new Tenancy.Jwt(
                section.text("claim", "sub"),
                keySet == null ? Path.of("") : keySet,
                section.text("issuer"),
                section.text("audience"));
        section.end();
        return tenancy;
    }

    private static void checkKeySet(Path file) throws IOException {
        try {
            if (JWKSet.load(file.toFile()).getKeys().isEmpty()) {
                throw new IllegalArgumentException("the key set " + file + " has no keys");
            }
        } catch (ParseException e) {
            throw new IllegalArgumentException(
                    file + " is not a JWK set such as {\"keys\": [{\"kty\": \"RSA\", …}]}: " + e.getMessage(), e);
        }
    }

    private static Tenancy header(Section section) {
        List<Network> from = ConfigFile.networks(section, "from");
        if (from.isEmpty()) {
            section.wrong("\"from\" is missing; write where the trusted proxy is: from: [10.0.0.5/32]");
        }
        Tenancy tenancy = new Tenancy.TrustedHeader(section.header("name", section.text("name", "X-Tenant")), from);
        section.end();
        return tenancy;
    }
}
