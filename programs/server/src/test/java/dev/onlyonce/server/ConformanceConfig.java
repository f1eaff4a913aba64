package dev.onlyonce.server;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The gateway's settings for the application of the HTTP conformance suite. */
final class ConformanceConfig {
    private static final List<String> PATHS = List.of("echo", "other", "form", "status/{code}", "gate", "large");

    /** What is said of the operations under each prefix. */
    private static final Map<String, String> PREFIXES = new LinkedHashMap<>();

    static {
        PREFIXES.put("ietf", "");
        PREFIXES.put("stripe", "profile: stripe");
        PREFIXES.put("strict", "profile: strict");
        PREFIXES.put("operation", "scope: operation");
        PREFIXES.put("accepted", "when-running: accepted");
        PREFIXES.put("waiting", "wait-max: 1m");
        PREFIXES.put("lease", "lease: 2s");
        PREFIXES.put("retention", "retention: 1s");
        PREFIXES.put("tombstone", "retention: 1s, tombstone: 1h");
        PREFIXES.put("stripe-tombstone", "profile: stripe, retention: 1s, tombstone: 1h");
        PREFIXES.put("strict-tombstone", "profile: strict, retention: 1s, tombstone: 1h");
        PREFIXES.put("stripe-unknown", "profile: stripe, on-server-error: unknown");
        PREFIXES.put("uuid", "key-format: uuid");
        PREFIXES.put("personal", "refuse-personal-keys: true");
        PREFIXES.put("timestamp", "request-age: {header: X-Made, max: 1h}");
    }

    private ConformanceConfig() {}

    /** Without upstream; with the URL of the store's database unless that is empty. */
    static String yaml(String url) {
        StringBuilder yaml = new StringBuilder("tenants: {api-key: {header: Authorization, sha256: {")
                .append(TenantsTest.sha256("acme-key"))
                .append(": acme, ")
                .append(TenantsTest.sha256("zenith-key"))
                .append(": zenith}}}\n");
        if (!url.isEmpty()) {
            yaml.append("store: {url: '").append(url).append("'}\n");
        }
        yaml.append("operations:\n");
        PREFIXES.forEach((prefix, settings) -> {
            String more = settings.isEmpty() ? "" : ", " + settings;
            for (String path : PATHS) {
                yaml.append("  - {method: POST, path: '/%s/%s'%s}\n".formatted(prefix, path, more));
            }
            yaml.append("  - {method: PATCH, path: '/%s/echo'%s}\n".formatted(prefix, more));
        });
        return yaml.toString();
    }

    static String authorization(String tenant) {
        return "Bearer " + tenant + "-key";
    }
}
