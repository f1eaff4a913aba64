package dev.onlyonce.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.onlyonce.client.Attempt;
import dev.onlyonce.client.CallRequest;
import dev.onlyonce.client.JournalException;
import dev.onlyonce.client.RetryPolicy;
import dev.onlyonce.client.RetryingClient;
import dev.onlyonce.client.journal.SqliteJournal;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The meters of a client")
class CallMetersTest {
    @TempDir
    private Path folder;

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final CallMeters meters = new CallMeters(registry, "bank");
    private HttpServer server;

    @BeforeEach
    void start() throws Exception {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    /** A place that answers these statuses, one after the other. */
    private CallRequest answering(String path, Integer... statuses) {
        Iterator<Integer> script = List.of(statuses).iterator();
        server.createContext(path, exchange -> {
            exchange.getRequestBody().readAllBytes();
            int status = script.next();
            exchange.getResponseHeaders().set("Idempotent-Replayed", String.valueOf(status == 200));
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        return CallRequest.post(
                URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path), "{}");
    }

    private RetryingClient client() {
        RetryPolicy policy = RetryPolicy.builder()
                .attemptsMax(2)
                .firstPause(Duration.ofMillis(1))
                .build();
        return RetryingClient.builder(SqliteJournal.open(folder.resolve("journal")))
                .policy(policy)
                .listener(meters)
                .build();
    }

    private double count(CallMetric metric, String... tags) {
        return registry.get(metric.meterName()).tags(tags).counter().count();
    }

    private long timed(CallMetric metric, String... tags) {
        return registry.get(metric.meterName()).tags(tags).timer().count();
    }

    @Test
    @DisplayName("count calls by result, attempts by status, retries, replays and pauses")
    void calls() throws Exception {
        try (RetryingClient client = client()) {
            client.send("order-1", answering("/created", 201));
            client.send("order-2", answering("/replayed", 500, 200));
            client.send("order-3", answering("/refused", 422));
            client.send("order-4", answering("/failing", 500, 500));
        }
        assertThat(count(CallMetric.DONE, "client", "bank")).isEqualTo(2);
        assertThat(count(CallMetric.REPLAYED)).isEqualTo(1);
        assertThat(count(CallMetric.REFUSED)).isEqualTo(1);
        assertThat(count(CallMetric.IN_DOUBT, "reason", "attempts")).isEqualTo(1);
        assertThat(count(CallMetric.IN_DOUBT, "reason", "deadline")).isZero();
        assertThat(count(CallMetric.RETRIES)).isEqualTo(2);
        assertThat(count(CallMetric.JOURNAL_FAILED)).isZero();
        assertThat(timed(CallMetric.CALL_DURATION)).isEqualTo(4);
        assertThat(timed(CallMetric.WAIT_DURATION)).isEqualTo(2);
        assertThat(timed(CallMetric.ATTEMPT_DURATION, "status", "2xx")).isEqualTo(2);
        assertThat(timed(CallMetric.ATTEMPT_DURATION, "status", "4xx")).isEqualTo(1);
        assertThat(timed(CallMetric.ATTEMPT_DURATION, "status", "5xx")).isEqualTo(3);
    }

    @Test
    @DisplayName("count failures of the journal, and the call that was not sent is no result")
    void journal() {
        RetryingClient client = client();
        client.close();
        CallRequest request = answering("/never");
        assertThatThrownBy(() -> client.send("order-1", request)).isInstanceOf(JournalException.class);
        assertThat(count(CallMetric.JOURNAL_FAILED)).isEqualTo(1);
        assertThat(timed(CallMetric.CALL_DURATION)).isZero();
    }

    @Test
    @DisplayName("are all there from the start, under their published names, and statuses make no new series")
    void published() {
        int before = registry.getMeters().size();
        for (int status : List.of(0, 99, 299, 599, 600, 999)) {
            meters.attempted("order-1", new Attempt(Duration.ZERO, Duration.ofMillis(1), status, "x"));
        }
        assertThat(registry.getMeters()).hasSize(before);
        String scraped = registry.scrape();
        for (CallMetric metric : CallMetric.values()) {
            String suffix = metric.kind() == Metric.Kind.TIMER ? "_count" : "";
            assertThat(scraped).contains("\n" + metric.prometheusName() + suffix + "{client=\"bank\"");
        }
        assertThat(scraped).doesNotContain("order-1");
    }
}
