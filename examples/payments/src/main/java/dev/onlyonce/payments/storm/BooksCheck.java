package dev.onlyonce.payments.storm;

import dev.onlyonce.payments.provider.Movement;
import dev.onlyonce.store.Time;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Compares the books of all tenants with the provider's ledger, from outside. */
public final class BooksCheck {
    private static final Duration ANSWER_MAX = Duration.ofSeconds(30);
    private static final Duration LOOK_EVERY = Duration.ofMillis(200);

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final JsonMapper json = new JsonMapper();
    private final URI api;
    private final ProviderLedger ledger;

    /** Of the payments and the provider at these URLs. */
    public BooksCheck(URI api, URI provider) {
        this.api = api;
        this.ledger = new ProviderLedger(provider);
    }

    /**
     * Waits until the books are right, and returns what they say then, or when patience is over.
     *
     * @throws IOException if payments or provider do not answer, and patience is over
     */
    public BooksVerdict await(Duration patience) throws IOException, InterruptedException {
        try (Time time = Time.system()) {
            long end = time.nanos() + patience.toNanos();
            while (true) {
                boolean last = time.nanos() - end >= 0;
                try {
                    BooksVerdict verdict = look();
                    if (last || verdict.allWell()) {
                        return verdict;
                    }
                } catch (IOException e) {
                    // A database that is busy is 503 for a moment.
                    if (last) {
                        throw e;
                    }
                }
                time.await(new CompletableFuture<Void>(), LOOK_EVERY);
            }
        }
    }

    private BooksVerdict look() throws IOException, InterruptedException {
        Map<String, Long> made = new TreeMap<>();
        for (List<Movement> movements : ledger.byReference().values()) {
            for (Movement movement : movements) {
                if (movement.succeeded()) {
                    long amount = movement.kind().equals("charge") ? movement.amount() : -movement.amount();
                    made.merge(movement.currency(), amount, Long::sum);
                }
            }
        }
        Map<String, Long> posted = new TreeMap<>();
        Map<String, Long> all = new TreeMap<>();
        boolean balanced = true;
        long events = 0;
        for (String apiKey : Storm.apiKeys()) {
            JsonNode books = books(apiKey);
            balanced &= books.get("balanced").asBoolean();
            events += books.get("events").asLong();
            for (JsonNode line : books.get("accounts")) {
                String currency = line.get("currency").asString();
                all.merge(currency, line.get("balance").asLong(), Long::sum);
                if (line.get("account").asString().equals("provider")) {
                    posted.merge(currency, line.get("balance").asLong(), Long::sum);
                }
            }
        }
        balanced &= all.values().stream().allMatch(sum -> sum == 0);
        return new BooksVerdict(made, posted, balanced, events);
    }

    private JsonNode books(String apiKey) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(api.resolve("/books"))
                .timeout(ANSWER_MAX)
                .header("Authorization", "Bearer " + apiKey)
                .build();
        HttpResponse<byte[]> response = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
        if (response.statusCode() != 200) {
            throw new IOException("The payments at " + api + " answer " + response.statusCode() + " for their books");
        }
        return json.readTree(response.body());
    }
}
