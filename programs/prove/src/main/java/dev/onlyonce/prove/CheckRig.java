package dev.onlyonce.prove;

import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.PostgresServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** What the checklist runs on: PostgreSQL, a service, two gateways before it, and two nodes that embed the library. */
final class CheckRig implements AutoCloseable {
    static final Duration LEASE = Duration.ofSeconds(2);
    static final Duration RETENTION = Duration.ofSeconds(4);
    static final String PAY = "/pay";
    /** Is forgotten soon. */
    static final String SHORT = "/short";
    /** The same, but that there was a request is remembered. */
    static final String REMEMBERED = "/remembered";

    private static final String SETTINGS = """
            listen: {host: 127.0.0.1, port: %d}
            admin: {host: 127.0.0.1, port: %d}
            tenants: {header: {name: Tenant, from: [127.0.0.1/32]}}
            upstreams: [{name: service, url: "http://127.0.0.1:%d", response-timeout: 60s}]
            defaults: {lease: %ds, call-max: 65s}
            operations:
              - method: POST
                path: /pay
                look-up:
                  request: GET /seek?key={key}
                  found: {status: 200, pointer: /answer}
                  absent: {status: 200, pointer: /answer, missing: true}
                  answer: {status: 200, pointer: /answer}
              - {method: POST, path: /short, retention: %ds}
              - {method: POST, path: /remembered, retention: %ds, tombstone: 1h}
            store: {url: "%s"}
            data: %s
            """;

    private static final Duration ANSWER_MAX = Duration.ofSeconds(40);
    private static final int UP_TRIES = 600;

    private final DatabaseServer database = PostgresServer.start("fsync=off", "track_activity_query_size=32768");
    private final String url = database.jdbcUrl("postgres") + "&socketTimeout=4&connectTimeout=2";
    private final CheckedService service;
    private final HttpClient http = HttpClient.newHttpClient();
    private final List<NodeProcess> gateways = new ArrayList<>();
    private final List<Integer> ports = new ArrayList<>();
    private final List<Integer> adminPorts = new ArrayList<>();
    private final List<NodeProcess> nodes = new ArrayList<>();

    CheckRig(Path folder) throws IOException {
        service = new CheckedService();
        List<String> builds = List.of(NodeProcess.build());
        for (int i = 0; i < 2; i++) {
            ports.add(GatewayProgram.freePort());
            adminPorts.add(GatewayProgram.freePort());
            GatewayProgram gateway = new GatewayProgram(ports.get(i), config(folder, i));
            gateways.add(new NodeProcess("gateway-" + i, gateway, builds, folder));
            NodeProgram node = NodeProgram.of("node-" + i, url, service.port(), Plant.NONE, folder);
            nodes.add(new NodeProcess("node-" + i, node, builds, folder));
        }
        for (NodeProcess each : all()) {
            each.start();
        }
        awaitUp();
    }

    private Path config(Path folder, int number) throws IOException {
        Path data = GatewayProgram.ownFolder(folder.resolve("gateway-" + number));
        String text = SETTINGS.formatted(
                ports.get(number),
                adminPorts.get(number),
                service.port(),
                LEASE.toSeconds(),
                RETENTION.toSeconds(),
                RETENTION.toSeconds(),
                url,
                data);
        return Files.writeString(data.resolve("gateway.yaml"), text);
    }

    private List<NodeProcess> all() {
        List<NodeProcess> all = new ArrayList<>(gateways);
        all.addAll(nodes);
        return all;
    }

    void awaitUp() throws IOException {
        for (int i = 0; i < UP_TRIES && !all().stream().allMatch(NodeProcess::isUp); i++) {
            for (NodeProcess each : all()) {
                each.look();
            }
            Pause.millis(100);
        }
    }

    DatabaseServer database() {
        return database;
    }

    /** The URL of the store. */
    String url() {
        return url;
    }

    CheckedService service() {
        return service;
    }

    NodeProcess gateway(int number) {
        return gateways.get(number);
    }

    NodeProcess node(int number) {
        return nodes.get(number);
    }

    /** A request to a gateway. */
    static final class Ask {
        private final int gateway;
        private final Map<String, String> headers = new LinkedHashMap<>();
        private String method = "POST";
        private String path = PAY;
        private String body = "{\"cents\":990}";

        Ask(int gateway, String key) {
            this.gateway = gateway;
            if (!key.isEmpty()) {
                headers.put("Idempotency-Key", key);
                headers.put(CheckedService.NAME, key);
            }
            headers.put("Content-Type", "application/json");
            headers.put("Tenant", "acme");
        }

        Ask header(String name, String value) {
            headers.put(name, value);
            return this;
        }

        Ask act(String act) {
            return header(CheckedService.ACT, act);
        }

        Ask to(String newMethod, String newPath) {
            method = newMethod;
            path = newPath;
            return this;
        }

        Ask body(String newBody) {
            body = newBody;
            return this;
        }
    }

    /** What came back; status 0 if the connection broke. */
    record Answer(int status, Map<String, List<String>> headers, String body) {
        boolean has(String header) {
            return headers.keySet().stream().anyMatch(header::equalsIgnoreCase);
        }

        @Override
        public String toString() {
            String code = body.replaceAll("(?s).*\"code\"\\s*:\\s*\"([a-z_]+)\".*", "$1");
            return status + (status < 300 || code.equals(body) ? "" : " " + code);
        }
    }

    CompletableFuture<Answer> begin(Ask ask) {
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + ports.get(ask.gateway) + ask.path))
                .timeout(ANSWER_MAX)
                .method(
                        ask.method,
                        ask.method.equals("POST") || ask.method.equals("PUT")
                                ? BodyPublishers.ofString(ask.body)
                                : BodyPublishers.noBody());
        ask.headers.forEach(request::header);
        return http.sendAsync(request.build(), BodyHandlers.ofString())
                .thenApply(CheckRig::answer)
                .exceptionally(broken -> new Answer(0, Map.of(), ""));
    }

    Answer send(Ask ask) {
        return begin(ask).join();
    }

    /** The metrics of a gateway. */
    String metrics(int gateway) throws IOException, InterruptedException {
        return http.send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + adminPorts.get(gateway) + "/metrics"))
                                .timeout(ANSWER_MAX)
                                .build(),
                        BodyHandlers.ofString())
                .body();
    }

    private static Answer answer(HttpResponse<String> response) {
        return new Answer(response.statusCode(), response.headers().map(), response.body());
    }

    @Override
    public void close() {
        all().forEach(NodeProcess::close);
        service.close();
        database.close();
    }
}
