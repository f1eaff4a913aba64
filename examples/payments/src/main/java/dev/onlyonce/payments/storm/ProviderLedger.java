package dev.onlyonce.payments.storm;

import dev.onlyonce.payments.provider.Movement;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The provider as an auditor sees it: its ledger and its fault switches. */
public final class ProviderLedger {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final JsonMapper json = new JsonMapper();
    private final URI provider;

    /** Of the provider at this URL. */
    public ProviderLedger(URI provider) {
        this.provider = provider;
    }

    /** Sets the fault switches and returns what they were before. */
    public Map<String, Double> faults(Map<String, Double> faults) throws IOException, InterruptedException {
        Map<String, Double> before = new HashMap<>();
        call(request("/faults"))
                .properties()
                .forEach(setting ->
                        before.put(setting.getKey(), setting.getValue().asDouble()));
        call(request("/faults").PUT(HttpRequest.BodyPublishers.ofByteArray(json.writeValueAsBytes(faults))));
        return before;
    }

    /** All movements that were made, by reference. */
    public Map<String, List<Movement>> byReference() throws IOException, InterruptedException {
        Map<String, List<Movement>> movements = new HashMap<>();
        String after = "";
        for (boolean more = true; more; ) {
            JsonNode page = call(request("/ledger?after=" + after));
            for (JsonNode node : page.get("data")) {
                Movement movement = json.treeToValue(node, Movement.class);
                movements
                        .computeIfAbsent(movement.reference(), reference -> new ArrayList<>())
                        .add(movement);
                after = movement.id();
            }
            more = page.get("more").asBoolean();
        }
        return movements;
    }

    /** What the provider has counted. */
    public JsonNode stats() throws IOException, InterruptedException {
        return call(request("/stats"));
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(provider.resolve(path)).timeout(TIMEOUT);
    }

    private JsonNode call(HttpRequest.Builder request) throws IOException, InterruptedException {
        HttpResponse<byte[]> response;
        try {
            response = client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
        } catch (IOException e) {
            throw new IOException("The provider at " + provider + " does not answer (" + e + ")", e);
        }
        JsonNode body = json.readTree(response.body());
        if (response.statusCode() != 200) {
            throw new IOException("The provider answers " + response.statusCode() + " " + body);
        }
        return body;
    }
}
