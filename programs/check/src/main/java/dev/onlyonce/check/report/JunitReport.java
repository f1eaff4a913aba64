package dev.onlyonce.check.report;

import static dev.onlyonce.check.report.Markup.escaped;

import dev.onlyonce.check.CheckReport;
import dev.onlyonce.check.CheckResult;
import dev.onlyonce.check.CheckResult.Kind;
import dev.onlyonce.check.RoundTrip;

/** A report as JUnit XML, which every CI server shows. */
public final class JunitReport {
    private JunitReport() {}

    /** One test case for each check. */
    public static String of(CheckReport report) {
        StringBuilder xml = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        xml.append("<testsuite name=\"onlyonce check %s\" tests=\"%d\" failures=\"%d\" skipped=\"%d\" errors=\"0\">\n"
                .formatted(
                        escaped(report.target().toString()),
                        report.results().size(),
                        report.of(Kind.FAIL).size(),
                        report.of(Kind.NOT_APPLICABLE).size()));
        report.results().forEach(result -> testCase(xml, result));
        return xml.append("</testsuite>\n").toString();
    }

    private static void testCase(StringBuilder xml, CheckResult result) {
        xml.append("  <testcase classname=\"onlyonce.check\" name=\"%s: %s\">"
                .formatted(result.check().id(), escaped(result.check().title())));
        String detail = escaped(result.detail());
        switch (result.kind()) {
            case PASS, NOT_ASKED -> xml.append("<system-out>").append(detail).append("</system-out>");
            case NOT_APPLICABLE ->
                xml.append("<skipped message=\"").append(detail).append("\"/>");
            case FAIL -> {
                xml.append("<failure message=\"").append(detail).append("\">");
                for (RoundTrip trip : result.evidence()) {
                    xml.append(escaped(trip.request().shown() + "\n\n" + trip.shownAnswer() + "\n\n"));
                }
                xml.append("</failure>");
            }
        }
        xml.append("</testcase>\n");
    }
}
