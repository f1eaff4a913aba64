package dev.onlyonce.http;

import dev.onlyonce.Scope;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What the IETF's draft asks every resource to publish: how its keys work, for programs. */
final class Specification {
    private Specification() {}

    static HttpAnswer of(String base, String statusPath, List<Operation> operations) {
        Map<String, Object> header = new LinkedHashMap<>();
        header.put("name", KeyHeader.NAME);
        header.put("syntax", "an RFC 8941 string, or the same characters bare");
        header.put("characters", "visible ASCII");
        header.put("lengthMin", 1);
        header.put("lengthMax", 255);
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("version", 1);
        document.put("header", header);
        document.put("replayedHeader", StoredHeaders.REPLAYED);
        document.put("expiresHeader", StoredHeaders.EXPIRES);
        document.put("expiresFormat", "IMF-fixdate (RFC 9110)");
        document.put("statusPath", base + statusPath);
        document.put("problems", Problem.DOCUMENTATION);
        List<Object> described = new ArrayList<>();
        operations.forEach(operation -> described.add(describe(base, operation)));
        document.put("operations", described);
        return new HttpAnswer(200, Headers.of("Content-Type", "application/json"), ErrorFormat.json(document));
    }

    private static Map<String, Object> describe(String base, Operation operation) {
        Profile profile = operation.profile();
        Map<String, Object> described = new LinkedHashMap<>();
        described.put("name", operation.name());
        described.put("method", operation.method());
        described.put("path", base + operation.path());
        described.put("profile", profile.name());
        described.put("keyHeader", profile.keyHeader());
        if (operation.keyField() != null) {
            described.put("keyField", operation.keyField());
        }
        described.put("keyRequired", profile.keyRequired());
        described.put(
                "keyFormat",
                Map.of(
                        "name",
                        operation.keyFormat().name(),
                        "lengthMin",
                        operation.keyFormat().lengthMin()));
        described.put("personalKeys", operation.refusePersonalKeys() ? "refused" : "accepted");
        described.put("scope", operation.scope() == Scope.TENANT ? "tenant" : "operation");
        described.put("retentionSeconds", operation.policy().terms().retention().toSeconds());
        described.put("tombstoneSeconds", operation.policy().terms().tombstone().toSeconds());
        described.put("waitSecondsMax", operation.policy().waitMax().toSeconds());
        described.put("requestBytesMax", operation.bodyBytesMax());
        described.put("responseBytesMax", operation.policy().resultBytesMax());
        described.put("comparedHeaders", operation.fingerprintHeaders());
        if (operation.requestAge() != null) {
            described.put(
                    "requestAge",
                    Map.of(
                            "header",
                            operation.requestAge().header(),
                            "secondsMax",
                            operation.requestAge().max().toSeconds()));
        }
        described.put("notStored", profile.neverStored().stream().sorted().toList());
        described.put(
                "serverErrors",
                profile.onServerError().name().toLowerCase(Locale.ROOT).replace('_', '-'));
        described.put("statusCodes", statusCodes(profile));
        return described;
    }

    private static Map<String, Integer> statusCodes(Profile profile) {
        Map<String, Integer> codes = new LinkedHashMap<>();
        for (Problem problem : Problem.values()) {
            codes.put(problem.code(), profile.status(problem));
        }
        if (!profile.keyRequired()) {
            codes.remove(Problem.KEY_MISSING.code());
        }
        if (profile.whenRunning() == WhenRunning.ACCEPTED) {
            codes.put(Problem.IN_PROGRESS.code(), 202);
        }
        return codes;
    }
}
