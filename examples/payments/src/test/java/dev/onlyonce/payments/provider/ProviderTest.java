package dev.onlyonce.payments.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.onlyonce.http.Headers;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ProviderTest {
    private static final String CHARGE = "{\"amount\":1000,\"currency\":\"EUR\",\"reference\":\"pay_1\"}";
    private static final String SECRET = "s3cret";

    @TempDir
    private Path data;

    private final JsonMapper json = new JsonMapper();
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final List<AutoCloseable> open = new ArrayList<>();

    /** A webhook as it arrived. */
    private record Hook(String signature, byte[] body) {}

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable resource : open) {
            resource.close();
        }
    }

    private Provider start(ProviderOptions options) {
        Provider provider = Provider.start(options);
        open.add(provider);
        return provider;
    }

    @Test
    @DisplayName("A key is charged once, however often it comes, also after a restart")
    void keyIsHonoured() throws Exception {
        Provider first = start(ProviderOptions.in(data));
        HttpResponse<String> made = charge(first, "key-1", CHARGE);
        HttpResponse<String> repeated = charge(first, "key-1", CHARGE);
        first.close();
        Provider second = start(ProviderOptions.in(data));
        HttpResponse<String> afterRestart = charge(second, "key-1", CHARGE);

        assertThat(made.statusCode()).isEqualTo(201);
        assertThat(repeated.body()).isEqualTo(made.body());
        assertThat(afterRestart.body()).isEqualTo(made.body());
        assertThat(ledger(second)).hasSize(1);
        assertThat(charge(second, "key-1", CHARGE.replace("1000", "2000")).statusCode())
                .isEqualTo(422);
    }

    @Test
    @DisplayName("A provider that does not honour keys charges twice, and its ledger says so")
    void withoutLifetime() throws Exception {
        Provider provider = start(ProviderOptions.in(data).keyLifetime(Duration.ZERO));
        charge(provider, "key-1", CHARGE);
        charge(provider, "key-1", CHARGE);

        assertThat(get(provider, "/charges?idempotency_key=key-1").get("data")).hasSize(2);
        assertThat(ledger(provider)).hasSize(2);
    }

    @Test
    @DisplayName("Refunds need a charge, and never exceed it")
    void refunds() throws Exception {
        Provider provider = start(ProviderOptions.in(data));
        String id = json.readTree(charge(provider, "key-1", CHARGE).body())
                .get("id")
                .asString();
        String refund = "{\"amount\":700,\"reference\":\"ref_1\",\"charge_id\":\"" + id + "\"}";

        assertThat(post(provider, "/refunds", "r-1", refund).statusCode()).isEqualTo(201);
        assertThat(post(provider, "/refunds", "r-1", refund).statusCode()).isEqualTo(201);
        assertThat(post(provider, "/refunds", "r-2", refund).statusCode()).isEqualTo(402);
        assertThat(post(provider, "/refunds", "r-3", refund.replace(id, "ch_no"))
                        .statusCode())
                .isEqualTo(404);
        assertThat(get(provider, "/charges/" + id).get("id").asString()).isEqualTo(id);
    }

    @Test
    @DisplayName("Faults before the charge leave nothing in the ledger, faults after it leave the charge")
    void faults() throws Exception {
        Provider provider = start(ProviderOptions.in(data));
        for (String fault : List.of("error_before", "reset_before", "error_after", "reset_after", "drop_after")) {
            put(provider, "{\"" + fault + "\":1}");
            if (fault.startsWith("error")) {
                assertThat(charge(provider, fault, CHARGE).statusCode()).isEqualTo(500);
            } else {
                assertThatThrownBy(() -> charge(provider, fault, CHARGE)).isInstanceOf(IOException.class);
            }
            assertThat(get(provider, "/charges?idempotency_key=" + fault).get("data"))
                    .hasSize(fault.endsWith("after") ? 1 : 0);
        }
        put(provider, "{\"lookup_error\":1}");
        assertThat(get(provider, "/charges?idempotency_key=reset_after").has("error"))
                .isTrue();
        put(provider, "{}");
        assertThat(charge(provider, "reset_after", CHARGE).statusCode()).isEqualTo(201);
        assertThat(ledger(provider)).hasSize(3);
    }

    @Test
    @DisplayName("A declined card stays declined, and is no charge")
    void decline() throws Exception {
        Provider provider = start(ProviderOptions.in(data));
        provider.faults(Faults.of(Map.of("decline", 0.5, "seed", 7)));
        int declined = 0;
        for (int i = 0; i < 40; i++) {
            HttpResponse<String> first = charge(provider, "key-" + i, CHARGE);
            assertThat(charge(provider, "key-" + i, CHARGE).body()).isEqualTo(first.body());
            declined += first.statusCode() == 402 ? 1 : 0;
        }
        assertThat(declined).isBetween(5, 35);
        String always = CHARGE.replace("}", ",\"source\":\"tok_declined\"}");
        assertThat(charge(provider, "other", always).body()).contains("\"status\":\"declined\"");
    }

    @Test
    @DisplayName("Wrong switches and wrong charges are refused with a reason")
    void refusals() throws Exception {
        Provider provider = start(ProviderOptions.in(data));
        assertThat(put(provider, "{\"explode\":1}")).contains("There is no fault called explode");
        assertThat(put(provider, "{\"decline\":2}")).contains("between 0 and 1");
        assertThat(charge(provider, "k", "{\"amount\":0}").statusCode()).isEqualTo(400);
        assertThat(charge(provider, "k", "{").statusCode()).isEqualTo(400);
    }

    @Test
    @DisplayName("Webhooks are signed, in order unless told otherwise, and doubled, forged or held back when told")
    void webhooks() throws Exception {
        BlockingQueue<Hook> hooks = new LinkedBlockingQueue<>();
        Provider provider = start(ProviderOptions.in(data).webhooks(receiver(hooks), SECRET));
        charge(provider, "plain", CHARGE);
        assertThat(types(hooks, 2)).containsExactly("charge.created", "charge.succeeded");

        put(provider, "{\"webhook_swapped\":1}");
        charge(provider, "swapped", CHARGE);
        assertThat(types(hooks, 2)).containsExactly("charge.succeeded", "charge.created");

        put(provider, "{\"webhook_twice\":1,\"webhook_late\":1,\"delay_ms\":50}");
        charge(provider, "twice", CHARGE);
        assertThat(types(hooks, 4))
                .containsExactly("charge.created", "charge.succeeded", "charge.created", "charge.succeeded");

        put(provider, "{\"webhook_never\":1}");
        charge(provider, "never", CHARGE);
        put(provider, "{\"webhook_forged\":1}");
        charge(provider, "forged", CHARGE);
        List<Boolean> genuine = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            genuine.add(isGenuine(hooks.poll(30, TimeUnit.SECONDS)));
        }
        assertThat(genuine).containsExactlyInAnyOrder(false, true, true);
        assertThat(hooks).isEmpty();
    }

    private URI receiver(BlockingQueue<Hook> hooks) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            hooks.add(new Hook(
                    exchange.getRequestHeaders().getFirst(Webhooks.SIGNATURE_HEADER),
                    exchange.getRequestBody().readAllBytes()));
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
        open.add(() -> server.stop(0));
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/hooks");
    }

    private static boolean isGenuine(Hook hook) {
        Headers headers = Headers.of(Webhooks.SIGNATURE_HEADER, hook.signature());
        return Webhooks.scheme(SECRET)
                .refusal(headers, hook.body(), Clock.systemUTC().instant())
                .isEmpty();
    }

    private List<String> types(BlockingQueue<Hook> hooks, int count) throws InterruptedException {
        List<String> types = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Hook hook = hooks.poll(30, TimeUnit.SECONDS);
            assertThat(hook).isNotNull();
            assertThat(isGenuine(hook)).isTrue();
            types.add(json.readTree(hook.body()).get("type").asString());
        }
        return types;
    }

    private List<JsonNode> ledger(Provider provider) throws Exception {
        List<JsonNode> all = new ArrayList<>();
        String after = "";
        for (boolean more = true; more; ) {
            JsonNode page = get(provider, "/ledger?limit=2&after=" + after);
            page.get("data").forEach(all::add);
            more = page.get("more").asBoolean();
            after = all.isEmpty() ? "" : all.get(all.size() - 1).get("id").asString();
        }
        return all;
    }

    private HttpResponse<String> charge(Provider provider, String key, String body) throws Exception {
        return post(provider, "/charges", key, body);
    }

    private HttpResponse<String> post(Provider provider, String path, String key, String body) throws Exception {
        return client.send(
                request(provider, path)
                        .header("Idempotency-Key", key)
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private String put(Provider provider, String faults) throws Exception {
        return client.send(
                        request(provider, "/faults")
                                .PUT(HttpRequest.BodyPublishers.ofString(faults))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }

    private JsonNode get(Provider provider, String path) throws Exception {
        return json.readTree(client.send(request(provider, path).build(), HttpResponse.BodyHandlers.ofString())
                .body());
    }

    private static HttpRequest.Builder request(Provider provider, String path) {
        return HttpRequest.newBuilder(provider.url().resolve(path)).timeout(Duration.ofSeconds(30));
    }
}
