package dev.onlyonce.payments;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The payments application in this JVM, on a port of its own, and a client for it. */
final class PaymentsServer implements AutoCloseable {
    private final ConfigurableApplicationContext context;
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private PaymentsServer(ConfigurableApplicationContext context) {
        this.context = context;
    }

    static PaymentsServer start(String jdbcUrl, String... settings) {
        List<String> arguments = new ArrayList<>(List.of(
                "--server.port=0", "--payments.db=" + jdbcUrl, "--payments.demo=true", "--server.shutdown=immediate"));
        for (String setting : settings) {
            arguments.add("--" + setting);
        }
        return new PaymentsServer(
                new SpringApplicationBuilder(PaymentsApplication.class).run(arguments.toArray(String[]::new)));
    }

    URI url() {
        return URI.create("http://127.0.0.1:" + context.getEnvironment().getProperty("local.server.port"));
    }

    ConfigurableApplicationContext context() {
        return context;
    }

    /** An answer, with its body as it came. */
    record Reply(int status, java.net.http.HttpHeaders headers, String body) {
        JsonNode json() {
            return new JsonMapper().readTree(body);
        }
    }

    /** A request as alice, unless a header says otherwise; headers are names and values in turn. */
    Reply send(String method, String path, String body, String... headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(url().resolve(path))
                .timeout(Duration.ofSeconds(60))
                .header("Content-Type", "application/json")
                .method(method, HttpRequest.BodyPublishers.ofString(body));
        List<String> all = new ArrayList<>(List.of(headers));
        if (!all.contains("Authorization")) {
            all.addAll(List.of("Authorization", "Bearer test_alice"));
        }
        request.headers(all.toArray(String[]::new));
        HttpResponse<String> response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        return new Reply(response.statusCode(), response.headers(), response.body());
    }

    @Override
    public void close() {
        context.close();
    }
}
