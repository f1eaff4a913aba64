package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.server.cli.Cli;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
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
        assertThat(metrics).contains("reconcile_scheduled_total 1.0");
        for (String name : List.of(
                "store_error",
                "zombie_key",
                "ttl_pruned",
                "reconcile_resolved",
                "reconcile_failed",
                "outbox_delivered",
                "outbox_retried",
                "outbox_dead")) {
            assertThat(metrics).contains("\n" + name + "_total 0.0");
        }
        for (String part : List.of("claim", "upstream", "settle")) {
            assertThat(metrics)
                    .containsPattern(
                            "gateway_" + part + "_seconds_bucket\\{operation=\"POST /\\*\\*\",le=\"\\+Inf\"\\} [1-9]");
        }
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
    @DisplayName("S4 has alerts and a dashboard whose metrics all exist")
    void alerts() throws Exception {
        for (int i = 0; i < 2; i++) {
            gateway.post("/payments", "order-1", "{}");
            gateway.post("/status/503", "order-4", "{}");
            gateway.post("/broken", "order-2", "{}");
        }
        gateway.post("/payments", "order-1", "{\"x\":1}");
        duplicateOfARunningRequest();
        String metrics =
                gateway.send(HttpRequest.newBuilder(gateway.admin("/metrics"))).body();
        Pattern name = Pattern.compile("\\b(api_idempotency|store|zombie|ttl|reconcile|outbox|gateway|jvm)_[a-z_]+");
        for (String file : List.of("alerts.yaml", "grafana-dashboard.json")) {
            String text = Files.readString(ConfigFileTest.root().resolve("docs/operating/" + file));
            Matcher names = name.matcher(text);
            int count = 0;
            while (names.find()) {
                count++;
                assertThat(metrics).as(file).containsPattern("(?m)^" + names.group() + "[ {]");
            }
            assertThat(count).isGreaterThan(5);
        }
        String alerts = Files.readString(ConfigFileTest.root().resolve("docs/operating/alerts.yaml"));
        assertThat(alerts)
                .contains("store_error_total")
                .contains("key_misuse_total")
                .contains("zombie_key_total")
                .contains("reconcile_backlog")
                .contains("outbox_dead_total");
    }

    @Test
    @DisplayName("measures the gateway, by the command line and by the API")
    void bench() throws Exception {
        Result measured = runAlone("bench", gateway.url("/payments").toString(), "--requests", "50", "--json");
        assertThat(measured.exitCode()).isZero();
        assertThat(measured.out()).contains("\"201\" : 50").contains("requestsPerSecond");
        assertThat(runAlone("bench", gateway.url("/status/500").toString(), "--requests", "5")
                        .exitCode())
                .as("not all succeeded")
                .isEqualTo(Cli.FAILED);
        assertThat(runAlone("bench", gateway.url("/").toString(), "--requests", "0")
                        .exitCode())
                .isEqualTo(Cli.USAGE);
        HttpResponse<String> self = gateway.send(admin("/v1/bench").POST(HttpRequest.BodyPublishers.ofString("""
                {"path": "/payments", "load": {"connections": 4, "requests": 40, "body": "{}", "replay": true}}
                """)));
        assertThat(self.body()).contains("\"answers\":{\"201\":");
        assertThat(gateway.send(admin("/v1/bench").POST(HttpRequest.BodyPublishers.ofString("""
                {"path": "//elsewhere/", "load": {"connections": 4, "requests": 40, "body": "{}", "replay": true}}
                """)))
                        .statusCode())
                .as("to nobody else")
                .isEqualTo(400);
    }
}
