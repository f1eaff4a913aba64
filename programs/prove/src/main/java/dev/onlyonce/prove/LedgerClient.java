package dev.onlyonce.prove;

import dev.onlyonce.Codec;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.Reconciler.Finding;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/** How a node calls the ledger. */
final class LedgerClient {
    private static final Duration CALL_MAX = Duration.ofSeconds(1);

    private final HttpClient http = HttpClient.newHttpClient();
    private final String url;
    private final String node;
    private final boolean isBlind;

    /**
     * @param isBlind whether it finds nothing out, so that what is unknown stays so
     */
    LedgerClient(int port, String node, boolean isBlind) {
        this.isBlind = isBlind;
        this.url = "http://127.0.0.1:" + port;
        this.node = node;
    }

    /**
     * Makes the effect.
     *
     * @param looked when its owner last looked at its lease
     */
    String charge(Work work, String step, String body, long looked) throws IOException, InterruptedException {
        HttpRequest request = request("/effect", work, step)
                .header(Ledger.DEADLINE, String.valueOf(looked + Timing.CALL_MAX.toNanos()))
                .POST(BodyPublishers.ofString(body))
                .build();
        HttpResponse<String> response;
        try {
            response = http.send(request, BodyHandlers.ofString());
        } catch (ConnectException e) {
            throw new NotExecuted("nobody listens");
        }
        return switch (response.statusCode()) {
            case 200 -> response.body();
            case 503, 410 -> throw new NotExecuted("the ledger refused: " + response.body());
            default -> throw new IOException("the ledger answered " + response.statusCode());
        };
    }

    Finding find(Work work, String step) throws IOException, InterruptedException {
        if (isBlind) {
            return new Finding.CannotTell("it does not look");
        }
        HttpResponse<String> response =
                http.send(request("/find", work, step).GET().build(), BodyHandlers.ofString());
        return switch (response.statusCode()) {
            case 200 -> new Finding.Found(Codec.text().encode(response.body()));
            case 404 -> new Finding.Absent("the ledger has nothing");
            default -> new Finding.CannotTell("the ledger answered " + response.statusCode());
        };
    }

    private HttpRequest.Builder request(String path, Work work, String step) {
        return HttpRequest.newBuilder(URI.create(url + path))
                .timeout(CALL_MAX)
                .header(Ledger.TENANT, work.tenant())
                .header(Ledger.WAY, work.way().name())
                .header(Ledger.NAME, work.name())
                .header(Ledger.STEP, step)
                .header(Ledger.NODE, node);
    }
}
