package dev.onlyonce.spring.web;

import dev.onlyonce.spring.OnlyonceProperties;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.env.Environment;
import org.springframework.core.env.Profiles;

/**
 * Whose keys are, if the application has no resolver of tenants: the authenticated principal's.
 *
 * @param anonymous the tenant of requests that nobody has authenticated; null to refuse them
 */
public record PrincipalTenants(@Nullable String anonymous) {
    /** The one tenant of an application that only its developer can reach. */
    static final String DEVELOPMENT = "development";

    private static final Profiles PROFILES = Profiles.of("dev | development | local");
    private static final Set<String> LOOPBACK = Set.of("127.0.0.1", "localhost", "::1");
    private static final Logger log = LoggerFactory.getLogger(PrincipalTenants.class);

    /**
     * As configured. Where nothing is, and nobody else can ask (the server listens on loopback, or a profile for development is
     * active), everybody is one tenant.
     *
     * @param secured whether Spring Security is there: then requests without a principal are its business
     * @param whose what to set, for the log
     */
    public static PrincipalTenants of(
            OnlyonceProperties properties, Environment environment, boolean secured, String whose) {
        if (properties.anonymousTenant() != null) {
            return new PrincipalTenants(properties.anonymousTenant());
        }
        if (secured) {
            log.info("Protected requests that nobody has authenticated get 401. {}", whose);
            return new PrincipalTenants(null);
        }
        if (isPrivate(environment)) {
            log.warn(
                    "All requests belong to one tenant, \"{}\", because nobody but a developer can send any. Where others"
                            + " can, protected requests get 401 until you say whose they are. {}",
                    DEVELOPMENT,
                    whose);
            return new PrincipalTenants(DEVELOPMENT);
        }
        log.warn(
                "Protected requests that nobody has authenticated get 401, and Spring Security is not there. {}",
                whose);
        return new PrincipalTenants(null);
    }

    private static boolean isPrivate(Environment environment) {
        return environment.acceptsProfiles(PROFILES)
                || LOOPBACK.contains(environment.getProperty("server.address", ""));
    }

    /** For the line at start-up. */
    public String described() {
        return anonymous == null ? "the principal" : "the principal, or else \"" + anonymous + "\"";
    }
}
