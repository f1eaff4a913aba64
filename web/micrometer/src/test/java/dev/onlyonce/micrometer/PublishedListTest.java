package dev.onlyonce.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The published list of metrics")
class PublishedListTest {
    private static final Path DOCS = Path.of(System.getProperty("onlyonce.root"), "docs")
            .toAbsolutePath()
            .normalize();
    /** Every word of a query that looks like a metric. */
    private static final Pattern NAME = Pattern.compile("\\b[a-z]+(?:_[a-z]+)+\\b");

    private static final Pattern QUERY = Pattern.compile("(?s)expr\"?: (.*?)(?:\"legendFormat|labels:|for:)");
    private static final Set<String> FUNCTIONS = Set.of("histogram_quantile");

    @Test
    @DisplayName("S1 is the same in the reference as in the code: names, tags and meanings")
    void reference() throws IOException {
        List<String> rows = Files.readAllLines(DOCS.resolve("reference/metrics.md")).stream()
                .filter(line -> line.startsWith("| `"))
                .toList();
        assertThat(rows)
                .isEqualTo(Stream.concat(
                                Arrays.stream(Metric.values())
                                        .map(metric -> row(
                                                metric.meterName(),
                                                metric.prometheusName(),
                                                metric.tags().names(),
                                                metric.description())),
                                Arrays.stream(CallMetric.values())
                                        .map(metric -> row(
                                                metric.meterName(),
                                                metric.prometheusName(),
                                                metric.tags(),
                                                metric.description())))
                        .toList());
    }

    private static String row(String name, String inPrometheus, List<String> tags, String description) {
        return "| `%s` | `%s` | %s | %s |".formatted(name, inPrometheus, String.join(", ", tags), description);
    }

    @ParameterizedTest
    @ValueSource(strings = {"alerts.yaml", "grafana-dashboard.json"})
    @DisplayName(
            "S4 has every metric that alerts and dashboard ask for; only a proxy's own metrics are the gateway's alone")
    void askedFor(String file) throws IOException {
        Set<String> published = Arrays.stream(Metric.values())
                .map(metric -> metric.prometheusName() + (metric.kind() == Metric.Kind.TIMER ? "_bucket" : ""))
                .collect(Collectors.toSet());
        Set<String> asked = asked(Files.readString(DOCS.resolve("operating").resolve(file)));
        assertThat(asked).hasSizeGreaterThan(8);
        assertThat(asked)
                .allMatch(name -> published.contains(name) || name.startsWith("gateway_") || name.startsWith("jvm_"));
    }

    private static Set<String> asked(String text) {
        Set<String> names = new TreeSet<>();
        Matcher queries = QUERY.matcher(text);
        while (queries.find()) {
            Matcher found = NAME.matcher(queries.group(1));
            while (found.find()) {
                if (!FUNCTIONS.contains(found.group())) {
                    names.add(found.group());
                }
            }
        }
        return names;
    }

    @Test
    @DisplayName(
            "S4 has alerts for the store, misuse, duplicates, zombies, unknown outcomes, dead letters, the outbox, messages and the ledger")
    void alerts() throws IOException {
        assertThat(asked(Files.readString(DOCS.resolve("operating/alerts.yaml"))))
                .contains(
                        Metric.STORE_ERROR.prometheusName(),
                        Metric.RESERVE_KEY_MISUSE.prometheusName(),
                        Metric.RESERVE_REPLAY.prometheusName(),
                        Metric.ZOMBIE_KEY.prometheusName(),
                        Metric.RECONCILE_BACKLOG.prometheusName(),
                        Metric.RECONCILE_OLDEST.prometheusName(),
                        Metric.RECONCILE_FAILED.prometheusName(),
                        Metric.OUTBOX_DEAD.prometheusName(),
                        Metric.OUTBOX_DEAD_LETTERS.prometheusName(),
                        Metric.OUTBOX_OLDEST.prometheusName(),
                        Metric.MESSAGES_DEAD.prometheusName(),
                        Metric.LEDGER_DIFFERENCES.prometheusName());
    }
}
