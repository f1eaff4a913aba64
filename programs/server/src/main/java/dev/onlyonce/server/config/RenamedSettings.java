package dev.onlyonce.server.config;

import java.util.Map;

/** Settings that had another name in earlier releases, so that an old file gets a useful error. */
final class RenamedSettings {
    /** Old names and their new ones. */
    static final Map<String, String> NEW_NAMES = Map.of(
            "wait", "wait-max",
            "compare-headers", "fingerprint-headers",
            "ignore-members", "ignored-members",
            "response-bytes-max", "result-bytes-max",
            "tenant-limits", "limits",
            "apply-schema", "schema");

    private RenamedSettings() {}
}
