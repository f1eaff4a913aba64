package dev.onlyonce.check.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.onlyonce.check.CheckReport;
import dev.onlyonce.check.CheckResult;
import dev.onlyonce.check.CheckResult.Kind;
import java.util.Locale;

/** A report for programs. */
public final class JsonReport {
    private static final JsonMapper MAPPER = new JsonMapper();

    private JsonReport() {}

    /** One object. */
    public static String of(CheckReport report) {
        ObjectNode root = MAPPER.createObjectNode()
                .put("target", report.target().toString())
                .put("grade", String.valueOf(report.grade()))
                .put("passed", report.of(Kind.PASS).size())
                .put("failed", report.of(Kind.FAIL).size())
                .put("notAsked", report.of(Kind.NOT_ASKED).size())
                .put("notApplicable", report.of(Kind.NOT_APPLICABLE).size())
                .put("effectsCounted", report.counted());
        ArrayNode checks = root.putArray("checks");
        report.results().forEach(result -> add(checks.addObject(), result));
        try {
            return MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(root);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void add(ObjectNode node, CheckResult result) {
        node.put("id", result.check().id())
                .put("title", result.check().title())
                .put("weight", lower(result.check().weight()))
                .put("result", lower(result.kind()))
                .put("detail", result.detail());
        node.putObject("asks")
                .put("ietf", result.check().ietf())
                .put("stripe", result.check().stripe())
                .put("onlyonce", result.check().onlyonce());
        ArrayNode evidence = node.putArray("evidence");
        result.evidence()
                .forEach(trip -> evidence.addObject()
                        .put("request", trip.request().shown())
                        .put("answer", trip.shownAnswer()));
    }

    private static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
