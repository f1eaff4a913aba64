package dev.onlyonce.server;

import static dev.onlyonce.server.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onlyonce.server.cli.Cli;
import dev.onlyonce.sql.SqlStore;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("What the console shows")
class ConsoleViewsTest extends AdminFixture {
    private JsonNode get(String path) throws Exception {
        HttpResponse<String> answer = gateway.send(admin("/v1" + path));
        assertThat(answer.statusCode()).as(path + " " + answer.body()).isEqualTo(200);
        return new ObjectMapper().readTree(answer.body());
    }

    private JsonNode post(String path, String body) throws Exception {
        HttpResponse<String> answer = gateway.send(admin("/v1" + path).POST(HttpRequest.BodyPublishers.ofString(body)));
        assertThat(answer.statusCode()).as(path + " " + answer.body()).isEqualTo(200);
        return new ObjectMapper().readTree(answer.body());
    }

    private static List<String> texts(JsonNode list, String member) {
        return StreamSupport.stream(list.spliterator(), false)
                .map(it -> it.get(member).asText())
                .toList();
    }

    @Test
    @DisplayName(
            "O1 S1 at a glance: what this node does a second, how long it takes, what the store has, and what waits")
    void overview() throws Exception {
        gateway.post("/payments", "order-1", "{}");
        gateway.post("/payments", "order-1", "{}");
        gateway.post("/payments", "order-1", "{\"other\":1}");
        gateway.post("/broken/pay", "order-2", "{}");
        JsonNode overview = get("/overview");
        JsonNode mine = overview.get("mine");
        assertThat(mine.get("perSecond").get("created").asDouble()).isPositive();
        assertThat(mine.get("perSecond").get("replayed").asDouble()).isPositive();
        assertThat(mine.get("perSecond").get("mismatched").asDouble()).isPositive();
        assertThat(mine.get("percentiles").get("claim").get("p95").asDouble()).isPositive();
        assertThat(mine.get("percentiles").get("handler").get("p95").asDouble()).isPositive();
        assertThat(mine.get("percentiles").get("settle").get("p95").asDouble()).isPositive();
        JsonNode all = overview.get("everybody");
        assertThat(all.get("states").get("completed").toString()).isEqualTo("{\"count\":1,\"kind\":\"exact\"}");
        assertThat(all.get("unknown").get("count").asInt()).isEqualTo(1);
        assertThat(all.get("unknown").get("oldestAt").asText()).isNotEmpty();
        assertThat(all.get("deadLetters").get("count").asInt()).isZero();
        assertThat(all.get("store").get("name").asText()).isEqualTo("SQLite");
        assertThat(all.get("store").get("healthy").asBoolean()).isTrue();
        assertThat(all.get("store").get("failover").asText()).contains("no failover");
        assertThat(run("overview").out()).contains("keys completed").containsPattern("unknown +1");
        assertThat(run("series").exitCode()).isZero();
        assertThat(get("/series").get("stepSeconds").asInt()).isEqualTo(10);
    }

    @Test
    @DisplayName("O1 the other nodes on the store, with version and start, and those that are gone")
    void nodes() throws Exception {
        assertThat(get("/overview").get("everybody").get("nodes")).hasSize(1);
        Path file = gateway.data().resolve("onlyonce.db");
        try (SqlStore other = SqlStore.sqlite(file)) {
            other.announce("other", "0.9", Duration.ofHours(2));
            other.announce("dead", "0.8", Duration.ofHours(3));
        }
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = connection.createStatement()) {
            statement.execute("UPDATE onlyonce_entry SET settled_at = settled_at - 120000000 WHERE key_ = 'dead'");
        }
        eventually(() -> {
            JsonNode all = get("/overview").get("everybody");
            assertThat(all.get("nodesComplete").asBoolean()).isTrue();
            assertThat(texts(all.get("nodes"), "me")).containsExactly("true", "false", "false");
            assertThat(texts(all.get("nodes"), "here")).containsExactly("true", "false", "true");
            assertThat(all.get("nodes").get(2).get("version").asText()).isEqualTo("0.9");
        });
        assertThat(run("overview").out()).contains("node other").containsPattern("node dead +.*NOT seen since");
    }

    @Test
    @DisplayName("O1 pages that stay whole while keys come: no key twice, and none of those that were there is missing")
    void paging() throws Exception {
        for (int i = 10; i < 40; i++) {
            gateway.post("/payments", "order-" + i, "{}");
        }
        List<String> seen = new ArrayList<>();
        String after = "";
        int more = 0;
        do {
            JsonNode page = get("/keys?limit=7" + after);
            seen.addAll(texts(page.get("keys"), "key"));
            gateway.post("/payments", "order-" + more++, "{}");
            gateway.post("/payments", "zz-" + more, "{}");
            after = page.has("next") ? "&after=" + page.get("next").asText() : "";
        } while (!after.isEmpty() && seen.size() < 200);
        assertThat(seen).doesNotHaveDuplicates();
        for (int i = 10; i < 40; i++) {
            assertThat(seen).contains("order-" + i);
        }
    }

    @Test
    @DisplayName("O1 filters by state, operation, age, node and the beginning of the key")
    void filters() throws Exception {
        for (String key : List.of("a-1", "a-2", "b-1", "a-", "a.")) {
            gateway.post("/payments", key, "{}");
        }
        gateway.post("/broken/pay", "a-3", "{}");
        assertThat(texts(get("/keys?tenant=default&prefix=a-").get("keys"), "key"))
                .containsExactly("a-", "a-1", "a-2", "a-3");
        assertThat(texts(
                        get("/keys?tenant=default&prefix=a-&state=completed&limit=2")
                                .get("keys"),
                        "key"))
                .containsExactly("a-", "a-1");
        JsonNode first = get("/keys?tenant=default&prefix=a-&limit=1");
        assertThat(texts(
                        get("/keys?tenant=default&prefix=a-&limit=9&after="
                                        + first.get("next").asText())
                                .get("keys"),
                        "key"))
                .containsExactly("a-1", "a-2", "a-3");
        assertThat(texts(get("/keys?state=unknown").get("keys"), "key")).containsExactly("a-3");
        assertThat(get("/keys?olderThan=1h").get("keys")).isEmpty();
        assertThat(get("/keys?newerThan=1h").get("keys")).hasSize(6);
        String node = get("/overview").get("mine").get("node").asText();
        assertThat(get("/keys?node=" + URLEncoder.encode(node, StandardCharsets.UTF_8))
                        .get("keys"))
                .hasSize(6);
        assertThat(get("/keys?node=other").get("keys")).isEmpty();
        assertThat(gateway.send(admin("/v1/keys?prefix=a")).statusCode())
                .as("no index finds it")
                .isEqualTo(400);
        assertThat(run("keys", "list", "--tenant", "default", "--prefix", "b").out())
                .contains("b-1")
                .doesNotContain("a-1");
    }

    @Test
    @DisplayName("O1 a key with its fingerprint, its replays on this node, its response and what can be done")
    void key() throws Exception {
        gateway.post("/payments", "order-1", "{}");
        gateway.post("/payments", "order-1", "{}");
        JsonNode key = get("/keys/show?tenant=default&key=order-1");
        assertThat(key.get("replays").get("count").asInt()).isEqualTo(1);
        assertThat(key.get("fingerprint").get("digest").asText()).hasSize(64);
        assertThat(texts(key.get("history"), "to")).contains("completed");
        assertThat(key.get("actions").toString()).isEqualTo("[\"evict\"]");
        assertThat(key.get("response").get("status").asInt()).isEqualTo(201);
        JsonNode byRef = get("/keys/show?ref=" + key.get("ref").asText());
        assertThat(byRef.get("key").asText()).isEqualTo("order-1");
        HttpResponse<String> wrong = gateway.send(admin("/v1/keys/show?ref=kAAAA"));
        assertThat(wrong.statusCode()).isEqualTo(400);
    }

    @Test
    @DisplayName("O1 whether a request would match, and what differs as far as a hash can tell")
    void match() throws Exception {
        gateway.post("/payments", "order-1", "{\"amount\":1}");
        String key = "{\"key\":{\"tenant\":\"default\",\"key\":\"order-1\"},\"request\":{\"method\":\"POST\","
                + "\"headers\":{\"Content-Type\":\"application/json\"},";
        assertThat(post("/keys/match", key + "\"target\":\"/payments\",\"body\":\"{ \\\"amount\\\": 1.0 }\"}}")
                        .get("match")
                        .asBoolean())
                .isTrue();
        JsonNode query = post("/keys/match", key + "\"target\":\"/payments?a=b\",\"body\":\"{\\\"amount\\\":1}\"}}");
        assertThat(query.get("match").asBoolean()).isFalse();
        assertThat(query.get("parts").toString()).contains("without the query");
        JsonNode other = post("/keys/match", key + "\"target\":\"/refunds\",\"body\":\"{\\\"amount\\\":1}\"}}");
        assertThat(other.get("parts").toString()).contains("The key was used for POST /payments");
        JsonNode amount = post("/keys/match", key + "\"target\":\"/payments\",\"body\":\"{\\\"amount\\\":2}\"}}");
        assertThat(amount.get("parts").toString()).contains("nobody can tell which");
        Path body = Files.writeString(folder.resolve("body.json"), "{\"amount\":1}");
        assertThat(run("keys", "match", "order-1", "--target", "/payments", "--body", body.toString())
                        .out())
                .contains("the same request");
    }

    @Test
    @DisplayName(
            "O1 O2 S5 the queue of doubt, and one decision for many keys: each at its attempt, with a result for each")
    void bulk() throws Exception {
        for (int i = 0; i < 3; i++) {
            gateway.post("/broken/pay", "lost-" + i, "{}");
        }
        gateway.post("/payments", "fine", "{}");
        JsonNode queue = get("/reconcile?tenant=default");
        assertThat(texts(queue.get("unknown"), "key")).containsExactly("lost-0", "lost-1", "lost-2");
        assertThat(queue.get("unknown").get(0).get("reconcile").get("lookUp").asBoolean())
                .isFalse();
        String fine = get("/keys/show?tenant=default&key=fine").get("ref").asText();
        JsonNode results = post(
                        "/reconcile/resolve",
                        "{\"keys\":[{\"ref\":\""
                                + queue.get("unknown").get(0).get("ref").asText()
                                + "\",\"attempt\":1},{\"tenant\":\"default\",\"key\":\"lost-1\",\"attempt\":7},{\"ref\":\""
                                + fine
                                + "\",\"attempt\":1},{\"tenant\":\"default\",\"key\":\"gone\",\"attempt\":1}],"
                                + "\"finding\":{\"outcome\":\"absent\",\"reason\":\"ticket 7\"}}")
                .get("results");
        assertThat(texts(results, "done")).containsExactly("true", "false", "false", "false");
        assertThat(results.get(1).get("detail").asText()).contains("attempt 7");
        assertThat(gateway.send(admin("/v1/reconcile/resolve")
                                .POST(HttpRequest.BodyPublishers.ofString(
                                        "{\"keys\":[],\"finding\":{\"outcome\":\"absent\",\"reason\":\"r\"}}")))
                        .statusCode())
                .isEqualTo(400);
        Result preview = run("reconcile", "resolve", "--absent", "--reason", "ticket 8");
        assertThat(preview.out()).contains("2 would be recorded");
        assertThat(get("/reconcile").get("unknown")).hasSize(2);
        Result done = run("reconcile", "resolve", "--absent", "--reason", "ticket 8", "--yes");
        assertThat(done.exitCode()).isEqualTo(Cli.OK);
        assertThat(get("/reconcile").get("unknown")).isEmpty();
        assertThat(run("keys", "history", "lost-2").out()).contains("ticket 8");
    }

    @Test
    @DisplayName("O1 S2 notes in the history of a key in doubt, by name, which decide nothing")
    void notes() throws Exception {
        gateway.post("/broken/pay", "lost", "{}");
        gateway.post("/payments", "fine", "{}");
        assertThat(run("keys", "note", "lost", "--text", "asked the bank, ticket 12")
                        .exitCode())
                .isEqualTo(Cli.OK);
        JsonNode key = get("/keys/show?tenant=default&key=lost");
        assertThat(key.get("state").asText()).isEqualTo("unknown");
        JsonNode note = key.get("history").get(key.get("history").size() - 1);
        assertThat(texts(key.get("history"), "why")).contains("asked the bank, ticket 12");
        assertThat(note.get("from").asText()).isEqualTo(note.get("to").asText()).isEqualTo("unknown");
        assertThat(note.get("who").asText()).startsWith("operator");
        JsonNode shown =
                get("/reconcile").get("unknown").get(0).get("reconcile").get("note");
        assertThat(shown.get("why").asText()).isEqualTo("asked the bank, ticket 12");
        assertThat(run("reconcile", "list").out()).contains("asked the bank, ticket 12");
        Result refused = run("keys", "note", "fine", "--text", "too late");
        assertThat(refused.exitCode()).isNotEqualTo(Cli.OK);
        assertThat(refused.err()).contains("Only an unknown entry takes notes, and this one is completed");
    }

    @Test
    @DisplayName("O1 operations with their terms, loudly what is not protected, and the tenants that have most to do")
    void operations() throws Exception {
        gateway.close();
        gateway = Running.start(folder, upstream.url(), """
            operations:
              - {method: POST, path: /payments}
            limits: {stored-max: 1}
            """);
        gateway.post("/payments", "order-1", "{}");
        gateway.post("/orders/17", "order-2", "{}");
        assertThat(gateway.post("/payments", "order-3", "{}").statusCode()).isEqualTo(429);
        JsonNode operations = get("/operations");
        JsonNode payments = operations.get("operations").get(0);
        assertThat(payments.get("operation").asText()).isEqualTo("POST /payments");
        assertThat(payments.get("terms").get("profile").asText()).isEqualTo("ietf");
        assertThat(payments.get("seen").get("created").asInt()).isEqualTo(1);
        assertThat(payments.get("policy").toString()).contains("Retention");
        assertThat(operations.get("unprotected").get(0).get("request").asText()).isEqualTo("POST /orders/{id}");
        assertThat(operations.get("unprotected").get(0).get("count").asInt()).isEqualTo(1);
        JsonNode tenant = get("/tenants").get("tenants").get(0);
        assertThat(tenant.get("created").asInt()).isEqualTo(1);
        assertThat(tenant.get("limited").asInt()).as("S3 who runs into limits").isPositive();
        assertThat(tenant.get("liveKeys").toString()).isEqualTo("{\"count\":1,\"kind\":\"exact\"}");
        assertThat(run("operations").out()).contains("POST /payments", "POST /orders/{id}");
        assertThat(run("tenants").out()).contains("default");
    }

    @Test
    @DisplayName("An answer that has not changed is not sent again")
    void unchanged() throws Exception {
        HttpResponse<String> first = gateway.send(admin("/v1/schema"));
        String tag = first.headers().firstValue("ETag").orElseThrow();
        HttpResponse<String> again = gateway.send(admin("/v1/schema").header("If-None-Match", tag));
        assertThat(again.statusCode()).isEqualTo(304);
        assertThat(again.body()).isEmpty();
    }
}
