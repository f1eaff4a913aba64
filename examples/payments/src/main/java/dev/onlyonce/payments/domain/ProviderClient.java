package dev.onlyonce.payments.domain;

import dev.onlyonce.payments.provider.Movement;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The provider, over HTTP. Thread-safe. */
public final class ProviderClient {
    /**
     * What says no to the call itself. Others may hide a call with the same key that is still running (409, 425), or come from
     * something that stands before the provider (401, 403).
     */
    private static final Set<Integer> REFUSALS = Set.of(400, 404, 410, 413, 415, 422);

    private final HttpClient client;
    private final URI provider;
    private final Duration timeout;
    private final JsonMapper json = new JsonMapper();

    /** What a call came to: what is known of its effect, and nothing that is only likely. */
    public sealed interface Reply {
        /** It was made, now or before under the same key; or declined, which is final too. */
        record Decided(Movement movement) implements Reply {}

        /** The provider understood the call and refuses it: this one made nothing, and the same will not do better. */
        record Refused(String reason) implements Reply {}

        /** The provider was not reached; nothing was made. */
        record NotSent(String reason) implements Reply {}

        /** No answer, or one that does not tell: it may have been made. */
        record Unclear(String reason) implements Reply {}
    }

    /** The provider could not be asked. A question changes nothing, so it can be asked again. */
    public static final class NoAnswer extends RuntimeException {
        private static final long serialVersionUID = 1;

        NoAnswer(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /** Talks to the provider at this URL; a call that takes longer than the timeout is unclear. */
    public ProviderClient(URI provider, Duration timeout) {
        this.provider = provider;
        this.timeout = timeout;
        this.client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                // Shorter than the whole: what was not sent in time is known not to have been sent.
                .connectTimeout(timeout.dividedBy(2))
                .build();
    }

    /** Charges a payment's source under its downstream key. */
    public Reply charge(Payment payment, String key) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("amount", payment.amount());
        body.put("currency", payment.currency());
        body.put("reference", payment.id());
        body.put("source", payment.source());
        return post("/charges", key, body);
    }

    /** Refunds a part of a charge. */
    public Reply refund(String chargeId, Refund refund, String key) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("amount", refund.amount());
        body.put("charge_id", chargeId);
        body.put("reference", refund.id());
        return post("/refunds", key, body);
    }

    private Reply post(String path, String key, Map<String, Object> body) {
        HttpRequest request = request(path)
                .header("Content-Type", "application/json")
                .header("Idempotency-Key", key)
                .POST(HttpRequest.BodyPublishers.ofByteArray(json.writeValueAsBytes(body)))
                .build();
        try {
            HttpResponse<byte[]> response = send(request);
            int status = response.statusCode();
            if (status == 201 || status == 402) {
                return new Reply.Decided(json.readValue(response.body(), Movement.class));
            }
            String text = "status " + status;
            return REFUSALS.contains(status)
                    ? new Reply.Refused(text + " " + new String(response.body(), StandardCharsets.UTF_8))
                    : new Reply.Unclear(text);
        } catch (ConnectException | HttpConnectTimeoutException e) {
            return new Reply.NotSent(String.valueOf(e.getMessage()));
        } catch (IOException | JacksonException e) {
            return new Reply.Unclear(e.getClass().getSimpleName() + " " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Reply.Unclear("interrupted");
        }
    }

    /**
     * What was made under a key for this payment or refund. The key alone is not enough: one that is used again after it was
     * forgotten stands for two.
     *
     * @param kinds {@code charges} or {@code refunds}
     * @throws NoAnswer if the ledger cannot be read
     */
    public Optional<Movement> made(String kinds, String key, String reference) {
        String path = "/" + kinds + "?idempotency_key=" + URLEncoder.encode(key, StandardCharsets.UTF_8);
        return movements(ask(path)).stream()
                .filter(movement -> movement.reference().equals(reference))
                .findFirst();
    }

    /** What was made in a period; to: exclusive. Throws {@link NoAnswer}. */
    public List<Movement> period(long from, long to) {
        List<Movement> all = new ArrayList<>();
        String after = "";
        for (boolean more = true; more; ) {
            JsonNode page = ask("/ledger?from=" + from + "&to=" + to + "&after=" + after);
            all.addAll(movements(page));
            more = page.path("more").asBoolean(false);
            after = all.isEmpty() ? "" : all.get(all.size() - 1).id();
        }
        return all;
    }

    /** Its fault switches, for the demo. Throws {@link NoAnswer}. */
    public Map<String, Double> faults() {
        return numbers(ask("/faults"));
    }

    /** Sets its fault switches, for the demo, and returns them. Throws {@link NoAnswer}. */
    public Map<String, Double> faults(Map<String, Double> faults) {
        return numbers(ask(request("/faults")
                .PUT(HttpRequest.BodyPublishers.ofByteArray(json.writeValueAsBytes(faults)))
                .build()));
    }

    private static Map<String, Double> numbers(JsonNode object) {
        Map<String, Double> numbers = new TreeMap<>();
        object.properties()
                .forEach(
                        member -> numbers.put(member.getKey(), member.getValue().asDouble()));
        return numbers;
    }

    private List<Movement> movements(JsonNode page) {
        List<Movement> movements = new ArrayList<>();
        for (JsonNode node : page.path("data")) {
            movements.add(json.treeToValue(node, Movement.class));
        }
        return movements;
    }

    private JsonNode ask(String path) {
        return ask(request(path).build());
    }

    private JsonNode ask(HttpRequest request) {
        try {
            HttpResponse<byte[]> response = send(request);
            if (response.statusCode() != 200) {
                throw new IOException("status " + response.statusCode());
            }
            return json.readTree(response.body());
        } catch (IOException | JacksonException e) {
            throw new NoAnswer("The provider does not answer", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new NoAnswer("Interrupted", e);
        }
    }

    /** Sends within the timeout, which a request's own does not do: that one ends with the head of the response. */
    private HttpResponse<byte[]> send(HttpRequest request) throws IOException, InterruptedException {
        CompletableFuture<HttpResponse<byte[]>> answer =
                client.sendAsync(request, HttpResponse.BodyHandlers.ofByteArray());
        try {
            return answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new HttpTimeoutException("no whole answer within " + timeout);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException failure) {
                throw failure;
            }
            throw new IOException(e.getCause());
        } finally {
            answer.cancel(true);
        }
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(provider.resolve(path));
    }
}
