package dev.onlyonce.check.report;

import static dev.onlyonce.check.report.Markup.escaped;

import dev.onlyonce.check.CheckReport;
import dev.onlyonce.check.CheckResult;
import dev.onlyonce.check.CheckResult.Kind;
import dev.onlyonce.check.RoundTrip;
import java.util.Locale;

/** A report as one page that needs nothing else: no script, no picture, no other file. */
public final class HtmlReport {
    private static final String STYLE = """
            body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem;
                   color: #1c2024; background: #fff; }
            table { border-collapse: collapse; width: 100%; }
            th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid #d8dde3; }
            pre { background: #f4f6f8; padding: .6rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
            .pass { color: #116329; } .fail { color: #b3261e; font-weight: 600; } .not_applicable { color: #656d76; }
            .grade { font-size: 3rem; font-weight: 700; margin: 0; }
            .two { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
            small { color: #555d66; }
            """;

    private static final String HEAD = """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <meta name="viewport" content="width=device-width">
            """;

    private HtmlReport() {}

    /** The whole page. Everything that came from outside is escaped. */
    public static String of(CheckReport report) {
        String target = escaped(report.target().toString());
        StringBuilder page = new StringBuilder(HEAD);
        page.append("<title>onlyonce check ").append(target).append("</title>\n<style>\n");
        page.append(STYLE)
                .append("</style></head><body>\n<h1>Idempotency of ")
                .append(target)
                .append("</h1>\n");
        page.append("<p class=\"grade %s\">%s</p>\n".formatted(report.isPassed() ? "pass" : "fail", report.grade()));
        page.append("<p>%d passed, %d failed, %d not asked for, %d not applicable. Effects were %s.</p>\n"
                .formatted(
                        report.of(Kind.PASS).size(),
                        report.of(Kind.FAIL).size(),
                        report.of(Kind.NOT_ASKED).size(),
                        report.of(Kind.NOT_APPLICABLE).size(),
                        report.counted() ? "counted by the API" : "inferred from the answers"));
        page.append("<table><thead><tr><th>Result</th><th>Check</th><th>IETF draft 07</th><th>Stripe</th>"
                + "<th>Onlyonce</th></tr></thead><tbody>\n");
        report.results().forEach(result -> row(page, result));
        page.append("</tbody></table>\n");
        report.of(Kind.FAIL).forEach(result -> failure(page, result));
        return page.append("</body></html>\n").toString();
    }

    private static void row(StringBuilder page, CheckResult result) {
        String kind = result.kind().name().toLowerCase(Locale.ROOT);
        page.append("<tr><td class=\"%s\">%s</td>".formatted(kind, kind.replace('_', ' ')));
        page.append("<td>%s<br><small><code>%s</code> %s</small></td>"
                .formatted(escaped(result.check().title()), result.check().id(), escaped(result.detail())));
        for (String asked : new String[] {
            result.check().ietf(), result.check().stripe(), result.check().onlyonce()
        }) {
            page.append("<td><small>").append(escaped(asked)).append("</small></td>");
        }
        page.append("</tr>\n");
    }

    private static void failure(StringBuilder page, CheckResult result) {
        page.append("<h2>").append(escaped(result.check().title())).append("</h2>\n<p class=\"fail\">");
        page.append(escaped(result.detail())).append("</p>\n<div class=\"two\">");
        for (RoundTrip trip : result.evidence()) {
            page.append("<div><pre>").append(escaped(trip.request().shown())).append("</pre><pre>");
            page.append(escaped(trip.shownAnswer())).append("</pre></div>");
        }
        page.append("</div>\n");
    }
}
