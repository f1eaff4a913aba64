package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.micrometer.Metric;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("An operator who measures")
class AdminMetricsTest extends AdminFixture {

    @Test
    @DisplayName("S1 sees every decision counted under the published names, and health")
    void metrics() throws Exception {
        gateway.post("/payments", "order-1", "{}");
        gateway.post("/payments", "order-1", "{}");
        gateway.post("/payments", "order-1", "{\"x\":1}");
        gateway.post("/broken", "order-2", "{}");
        gateway.post("/broken", "order-2", "{}");
        gateway.post("/status/503", "order-3", "{}");
        gateway.post("/status/503", "order-3", "{}");
        duplicateOfARunningRequest();
        String metrics =
                gateway.send(HttpRequest.newBuilder(gateway.admin("/metrics"))).body();
        for (String name : List.of("created", "replay", "in_progress", "key_misuse", "failed_retry", "unknown")) {
            assertThat(metrics)
                    .containsPattern("api_idempotency_reserve_" + name
                            + "_total\\{operation=\"POST /\\*\\*\",tenant=\"default\"\\} [1-9]\\.0");
        }
        assertThat(metrics)
                .contains("api_idempotency_reconcile_scheduled_total{operation=\"POST /**\",tenant=\"default\"} 1.0");
        for (String part : List.of("claim", "execute", "settle")) {
            assertThat(metrics)
                    .containsPattern("api_idempotency_" + part
                            + "_duration_seconds_bucket\\{operation=\"POST /\\*\\*\",le=\"\\+Inf\"\\} [1-9]");
        }
        assertThat(metrics)
                .containsPattern("gateway_upstream_seconds_bucket\\{operation=\"POST /\\*\\*\",le=\"\\+Inf\"\\} [1-9]");
        assertThat(gateway.send(HttpRequest.newBuilder(gateway.admin("/health/live")))
                        .statusCode())
                .isEqualTo(200);
        assertThat(gateway.send(HttpRequest.newBuilder(gateway.admin("/health/ready")))
                        .statusCode())
                .isEqualTo(200);
    }

    private void duplicateOfARunningRequest() throws Exception {
        var held = gateway.begin("/held", "held");
        upstream.awaitHeld();
        gateway.post("/held", "held", "{}");
        upstream.release();
        held.get();
    }

    @Test
    @DisplayName("S1 S4 finds every published metric and every one of alerts and dashboard from the start")
    void published() throws Exception {
        String metrics =
                gateway.send(HttpRequest.newBuilder(gateway.admin("/metrics"))).body();
        for (Metric metric : Metric.values()) {
            String suffix = metric.kind() == Metric.Kind.TIMER ? "_bucket" : "";
            assertThat(metrics).containsPattern("(?m)^" + metric.prometheusName() + suffix + "[ {]");
        }
        // That the others are published ones, a test of the published list shows.
        Pattern name = Pattern.compile("\\b(gateway|jvm)_[a-z_]+");
        for (String file : List.of("alerts.yaml", "grafana-dashboard.json")) {
            String text = Files.readString(ConfigFileTest.root().resolve("docs/operating/" + file));
            Matcher names = name.matcher(text);
            while (names.find()) {
                assertThat(metrics).as(file).containsPattern("(?m)^" + names.group() + "[ {]");
            }
        }
    }

    @Test
    @DisplayName("S1 sees how many outcomes are unknown and since when")
    void backlog() throws Exception {
        gateway.post("/broken", "order-1", "{}");
        Eventually.eventually(() -> assertThat(gateway.send(HttpRequest.newBuilder(gateway.admin("/metrics")))
                        .body())
                .contains("\napi_idempotency_reconcile_backlog 1.0")
                .containsPattern("\napi_idempotency_reconcile_oldest_seconds [0-9.]*[1-9]")
                .contains("\napi_idempotency_outbox_dead_letters 0.0"));
    }
}
