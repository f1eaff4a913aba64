package dev.onlyonce.payments;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The payments application in this JVM, on a port of its own, and a client for it. */
final class PaymentsServer implements AutoCloseable {
    private final ConfigurableApplicationContext context;
    private final Client client;

    private PaymentsServer(ConfigurableApplicationContext context) {
        this.context = context;
        this.client = new Client(url());
    }

    static PaymentsServer start(String jdbcUrl, String... settings) {
        List<String> arguments = new ArrayList<>(List.of(
                "--server.port=0", "--payments.db=" + jdbcUrl, "--payments.demo=true", "--server.shutdown=immediate"));
        for (String setting : settings) {
            arguments.add("--" + setting);
        }
        if (arguments.stream().noneMatch(argument -> argument.startsWith("--payments.webhook-secret="))) {
            arguments.add("--payments.webhook-secret=whsec_test");
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

    /** As {@link Client#send}. */
    Reply send(String method, String path, String body, String... headers) throws Exception {
        return client.send(method, path, body, headers);
    }

    @Override
    public void close() {
        context.close();
    }
}
