package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Fingerprint;
import dev.onlyonce.Key;
import dev.onlyonce.server.cli.Cli;
import dev.onlyonce.server.config.StoreSettings;
import dev.onlyonce.server.gateway.OpenStore;
import dev.onlyonce.sql.Outbox;
import dev.onlyonce.sql.OutboxRow;
import dev.onlyonce.sql.SqlStore;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

@DisplayName("An operator")
class AdminTest {
    @TempDir
    Path folder;

    private CountingUpstream upstream;
    private RawUpstream broken;
    private Running gateway;

    @BeforeEach
    void start() {
        upstream = new CountingUpstream();
        broken = new RawUpstream((head, socket) -> socket.close());
        String yaml = """
                upstreams:
                  - {url: %s}
                  - {name: broken, url: %s, paths: [/broken]}
                """.formatted(upstream.url(), broken.url());
        gateway = Running.start(folder, upstream.url(), yaml);
    }

    @AfterEach
    void stop() {
        gateway.close();
        upstream.close();
        broken.close();
    }

    private record Result(int exitCode, String out, String err) {}

    private Result run(String... arguments) {
        List<String> all = new ArrayList<>(List.of(arguments));
        if (!all.contains("--db")) {
            all.addAll(List.of(
                    "--admin",
                    gateway.admin("").toString(),
                    "--data",
                    gateway.data().toString()));
        }
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = Cli.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        int exitCode = line.execute(all.toArray(String[]::new));
        return new Result(exitCode, out.toString(), err.toString());
    }

    @Test
    @DisplayName("lists, shows and evicts keys")
    void keys() throws Exception {
        gateway.post("/payments", "order-1", "{}");
        gateway.post("/payments", "order-2", "{}");
        Result list = run("keys", "list");
        assertThat(list.exitCode()).isZero();
        assertThat(list.out())
                .contains("TENANT")
                .contains("order-1")
                .contains("order-2")
                .contains("completed");
        assertThat(run("keys", "list", "--state", "unknown").out()).doesNotContain("order");
        assertThat(run("keys", "list", "--limit", "1", "--json").out())
                .contains("order-1")
                .doesNotContain("order-2")
                .contains("\"next\"");
        assertThat(run("keys", "show", "order-1").out()).contains("status").contains("201");
        assertThat(run("keys", "show", "order-1", "--json").out()).contains("\"status\" : 201");
        assertThat(run("keys", "show", "order-9").exitCode()).isEqualTo(Cli.NOT_FOUND);
        assertThat(run("keys", "show", "order-1", "--tenant", "other").exitCode())
                .isEqualTo(Cli.NOT_FOUND);

        assertThat(run("keys", "evict", "order-1").exitCode())
                .as("a reason is needed")
                .isEqualTo(Cli.USAGE);
        assertThat(run("keys", "evict", "order-1", "--reason", "test").exitCode())
                .isZero();
        assertThat(gateway.post("/payments", "order-1", "{}").headers().firstValue("Idempotent-Replayed"))
                .as("R7 it runs as new")
                .isEmpty();
        assertThat(upstream.effects("order-1")).isEqualTo(2);
    }

    @Test
    @DisplayName("S2 R7 S5 shows who changed a key, when and why, also after its eviction, and tenants apart")
    void history() throws Exception {
        gateway.post("/payments", "order-1", "{}");
        assertThat(run("keys", "show", "order-1").out())
                .containsPattern("AT +ATTEMPT +FROM +TO +WHO +WHY")
                .containsPattern("1 +- +processing +\\S+ +claimed")
                .containsPattern("1 +processing +completed +\\S+ +completed");
        assertThat(run("keys", "show", "order-1", "--json").out()).contains("\"history\"");
        assertThat(run("keys", "evict", "order-1", "--reason", "ticket 42").exitCode())
                .isZero();
        assertThat(run("keys", "show", "order-1").exitCode()).isEqualTo(Cli.NOT_FOUND);
        assertThat(run("keys", "history", "order-1").out()).containsPattern("1 +completed +- +\\S+ +ticket 42");
        assertThat(run("keys", "history", "order-1", "--json").out())
                .contains("\"changes\"")
                .contains("\"why\" : \"ticket 42\"");
        assertThat(run("keys", "history", "order-1", "--tenant", "other").exitCode())
                .isEqualTo(Cli.NOT_FOUND);
    }

    @Test
    @DisplayName("K6 means the entry of the operation that is named, and no other with the same key")
    void operations() throws Exception {
        gateway.close();
        gateway = Running.start(folder, upstream.url(), """
                operations:
                  - {method: POST, path: /wide}
                  - {method: POST, path: /other}
                  - {method: POST, path: /narrow, scope: operation}
                """);
        gateway.post("/wide", "k1", "{}");
        assertThat(run("keys", "show", "k1", "--operation", "POST /wide").exitCode())
                .isZero();
        for (String operation : List.of("POST /narrow", "POST /other")) {
            assertThat(run("keys", "evict", "k1", "--operation", operation, "--reason", "r")
                            .exitCode())
                    .as(operation)
                    .isEqualTo(Cli.NOT_FOUND);
            assertThat(run("keys", "history", "k1", "--operation", operation).exitCode())
                    .as(operation)
                    .isEqualTo(Cli.NOT_FOUND);
        }
        gateway.post("/narrow", "k1", "{}");
        assertThat(run("keys", "evict", "k1", "--operation", "POST /narrow", "--reason", "r")
                        .exitCode())
                .isZero();
        assertThat(run("keys", "history", "k1", "--operation", "POST /narrow").out())
                .contains("completed");
        assertThat(listed()).as("the other one is still there").containsExactly("k1");
        assertThat(run("keys", "show", "k1").out()).contains("POST /wide");
    }

    @Test
    @DisplayName("finds keys by tenant, state, age and operation")
    void filters() throws Exception {
        gateway.post("/payments", "order-1", "{}");
        gateway.send(
                gateway.request("/payments", "order-2").method("PATCH", HttpRequest.BodyPublishers.ofString("{}")));
        gateway.post("/broken", "order-3", "{}");
        assertThat(listed("--operation", "PATCH /**")).containsExactly("order-2");
        assertThat(listed("--state", "unknown")).containsExactly("order-3");
        assertThat(listed("--tenant", "default")).containsExactly("order-1", "order-2", "order-3");
        assertThat(listed("--tenant", "other")).isEmpty();
        assertThat(listed("--older-than", "1h")).isEmpty();
        assertThat(listed("--older-than", "0s", "--state", "completed")).containsExactly("order-1", "order-2");
        assertThat(run("keys", "list", "--state", "nonsense").exitCode()).isEqualTo(Cli.USAGE);
    }

    private List<String> listed(String... filter) {
        List<String> arguments = new ArrayList<>(List.of("keys", "list", "--json"));
        arguments.addAll(List.of(filter));
        List<String> keys = new ArrayList<>();
        Matcher key = Pattern.compile("\"key\" : \"([^\"]*)\"")
                .matcher(run(arguments.toArray(String[]::new)).out());
        while (key.find()) {
            keys.add(key.group(1));
        }
        return keys;
    }

    @Test
    @DisplayName("measures the gateway, by the command line and by the API")
    void bench() throws Exception {
        Result measured = runAlone("bench", gateway.url("/payments").toString(), "--requests", "50", "--json");
        assertThat(measured.exitCode()).isZero();
        assertThat(measured.out()).contains("\"201\" : 50").contains("requestsPerSecond");
        assertThat(runAlone("bench", gateway.url("/status/500").toString(), "--requests", "5")
                        .exitCode())
                .as("not all succeeded")
                .isEqualTo(Cli.FAILED);
        assertThat(runAlone("bench", gateway.url("/").toString(), "--requests", "0")
                        .exitCode())
                .isEqualTo(Cli.USAGE);
        HttpResponse<String> self = gateway.send(admin("/v1/bench").POST(HttpRequest.BodyPublishers.ofString("""
                {"path": "/payments", "load": {"connections": 4, "requests": 40, "body": "{}", "replay": true}}
                """)));
        assertThat(self.body()).contains("\"answers\":{\"201\":");
        assertThat(gateway.send(admin("/v1/bench").POST(HttpRequest.BodyPublishers.ofString("""
                {"path": "//elsewhere/", "load": {"connections": 4, "requests": 40, "body": "{}", "replay": true}}
                """)))
                        .statusCode())
                .as("to nobody else")
                .isEqualTo(400);
    }

    private HttpRequest.Builder admin(String path) throws Exception {
        String token = Files.readString(gateway.data().resolve("admin-token")).strip();
        return HttpRequest.newBuilder(gateway.admin(path)).header("Authorization", "Bearer " + token);
    }

    @Test
    @DisplayName("D6 settles unknown keys as found or absent, and no others")
    void settle() throws Exception {
        for (String key : List.of("a", "b", "c")) {
            assertThat(gateway.post("/broken", key, "{}").statusCode()).isEqualTo(504);
        }
        assertThat(run("reconcile", "list").out()).contains("a").contains("no");
        Path body = Files.writeString(folder.resolve("answer.json"), "{\"id\":7}");
        Result found =
                run("keys", "settle", "a", "--found", "--status", "201", "--body", body.toString(), "--reason", "r");
        assertThat(found.exitCode()).isZero();
        HttpResponse<String> replayed = gateway.post("/broken", "a", "{}");
        assertThat(replayed.statusCode()).isEqualTo(201);
        assertThat(replayed.body()).isEqualTo("{\"id\":7}");
        assertThat(replayed.headers().firstValue("Content-Type")).hasValue("application/json");

        assertThat(run("keys", "settle", "b", "--found", "--reason", "r").exitCode())
                .isZero();
        assertThat(gateway.post("/broken", "b", "{}").body()).contains("response_not_stored");

        assertThat(run("keys", "settle", "c", "--absent", "--attempt", "1", "--reason", "r")
                        .exitCode())
                .isZero();
        int before = broken.heads().size();
        assertThat(gateway.post("/broken", "c", "{}").statusCode()).isEqualTo(504);
        assertThat(broken.heads()).hasSize(before + 1);

        Result late = run("keys", "settle", "c", "--absent", "--attempt", "1", "--reason", "late news");
        assertThat(late.exitCode()).as("attempt 2 is the one in doubt now").isEqualTo(Cli.NOT_FOUND);
        assertThat(late.err()).contains("not attempt 1 that is unknown");
        assertThat(run("keys", "settle", "c", "--absent", "--reason", "r").exitCode())
                .as("which attempt must be said")
                .isEqualTo(Cli.USAGE);

        Result again = run("keys", "settle", "a", "--absent", "--attempt", "1", "--reason", "r");
        assertThat(again.exitCode()).isEqualTo(Cli.NOT_FOUND);
        assertThat(again.err()).contains("completed");
    }

    @Test
    @DisplayName("records no response that cannot be sent, and is told what is wrong with it")
    void unsendable() throws Exception {
        gateway.post("/broken", "a", "{}");
        for (List<String> wrong : List.of(
                List.of("--status", "42"),
                List.of("--status", "200", "--header", "X-A=b\r\nX-C: d"),
                List.of("--status", "200", "--header", "X A=b"),
                List.of("--header", "X-A=b"),
                List.of(
                        "--status",
                        "200",
                        "--body",
                        folder.resolve("missing.json").toString()))) {
            List<String> command = new ArrayList<>(List.of("keys", "settle", "a", "--found", "--reason", "r"));
            command.addAll(wrong);
            Result refused = run(command.toArray(String[]::new));
            assertThat(refused.exitCode()).as("%s", wrong).isEqualTo(Cli.USAGE);
            assertThat(refused.err()).hasLineCount(1);
        }
        assertThat(run("keys", "settle", "a", "--found", "--status", "201", "--header", "X-A=b", "--reason", "r")
                        .exitCode())
                .isZero();
        assertThat(gateway.post("/broken", "a", "{}").headers().firstValue("X-A"))
                .hasValue("b");
    }

    @Test
    @DisplayName("is told what is wrong with a request, in words that are not about the program's inside")
    void wrongRequests() throws Exception {
        HttpResponse<String> limit = gateway.send(admin("/v1/keys?limit=99999999999"));
        assertThat(limit.statusCode()).isEqualTo(400);
        assertThat(limit.body()).contains("limit must be between");
        HttpResponse<String> database = gateway.send(admin("/v1/schema/script?database=oracle"));
        assertThat(database.statusCode()).isEqualTo(400);
        assertThat(database.body()).contains("use postgresql, mysql or sqlite");
        HttpResponse<String> settle =
                gateway.send(admin("/v1/keys/settle").POST(HttpRequest.BodyPublishers.ofString("{}")));
        assertThat(settle.statusCode()).isEqualTo(400);
        assertThat(settle.body()).contains("key is missing").doesNotContain("dev.onlyonce");
        String token = Files.readString(gateway.data().resolve("admin-token")).strip();
        assertThat(gateway.send(HttpRequest.newBuilder(gateway.admin("/v1/stats"))
                                .header("Authorization", "bearer " + token))
                        .statusCode())
                .as("the name of a scheme has no case")
                .isEqualTo(200);
    }

    @Test
    @DisplayName("is told that a credential is wrong, which is not the store's fault")
    void wrongCredential() throws Exception {
        Path token = folder.resolve("wrong-token");
        Files.writeString(token, "w".repeat(64));
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
        Result refused = run("stats", "--admin-token-file", token.toString());
        assertThat(refused.exitCode()).isEqualTo(Cli.FAILED);
        assertThat(refused.err()).contains("credential").doesNotContain("store");
    }

    @Test
    @DisplayName("makes no database by a slip of the pen, and looks at one without changing it")
    void noSuchDatabase() throws Exception {
        Path file = folder.resolve("typo.db");
        for (List<String> command : List.of(List.of("keys", "list"), List.of("schema", "status"))) {
            List<String> all = new ArrayList<>(command);
            all.addAll(List.of("--db", "jdbc:sqlite:" + file));
            Result refused = run(all.toArray(String[]::new));
            assertThat(refused.exitCode()).as("%s", command).isEqualTo(Cli.UNAVAILABLE);
            assertThat(refused.err()).contains("typo.db");
            assertThat(file).doesNotExist();
        }
        Files.createFile(file);
        assertThat(run("schema", "status", "--db", "jdbc:sqlite:" + file).exitCode())
                .as("it is not current, and stays so")
                .isEqualTo(Cli.FAILED);
        Result noTables = run("keys", "list", "--db", "jdbc:sqlite:" + file);
        assertThat(noTables.exitCode()).isEqualTo(Cli.UNAVAILABLE);
        assertThat(noTables.err()).contains("run onlyonce schema apply");
        assertThat(run("schema", "apply", "--db", "jdbc:sqlite:" + file).exitCode())
                .isZero();
        assertThat(run("schema", "status", "--db", "jdbc:sqlite:" + file).exitCode())
                .isZero();
    }

    @Test
    @DisplayName("cannot change a database whose tables are of a newer release, nor what is no database")
    void newerDatabase() throws Exception {
        String url = "jdbc:sqlite:" + folder.resolve("newer.db");
        Files.createFile(folder.resolve("newer.db"));
        assertThat(run("schema", "apply", "--db", url).exitCode()).isZero();
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO onlyonce_schema (version) VALUES (99)");
        }
        Result evict = run("keys", "evict", "a", "--reason", "r", "--db", url);
        assertThat(evict.exitCode()).isEqualTo(Cli.UNAVAILABLE);
        assertThat(evict.err()).contains("version 99").contains("upgrade Onlyonce");
        assertThat(run("schema", "status", "--db", url).err()).contains("upgrade Onlyonce");
        Path text = Files.writeString(folder.resolve("text.db"), "This is no database. ".repeat(100));
        assertThat(run("keys", "list", "--db", "jdbc:sqlite:" + text).err()).contains("not a database");
    }

    @Test
    @DisplayName("works on a database without a gateway")
    void offline() throws Exception {
        gateway.post("/payments", "order-1", "{}");
        gateway.drain();
        String db = "jdbc:sqlite:" + gateway.data().resolve("onlyonce.db");
        assertThat(run("keys", "list", "--db", db).out()).contains("order-1");
        assertThat(run("stats", "--db", db, "--json").out()).contains("\"completed\" : 1");
        assertThat(run("schema", "status", "--db", db).exitCode()).isZero();
        assertThat(run("outbox", "list", "--db", db).exitCode()).isZero();
        assertThat(run("outbox", "retry", "1", "--reason", "r", "--db", db).exitCode())
                .isEqualTo(Cli.NOT_FOUND);
        assertThat(run("keys", "evict", "order-1", "--reason", "test", "--db", db)
                        .exitCode())
                .isZero();
        assertThat(run("keys", "list").exitCode()).as("no gateway runs").isEqualTo(Cli.UNAVAILABLE);
    }

    @Test
    @DisplayName(
            "S5 gives a dead letter its tries again, or forgets it, by command line and API, and the audit says who and why")
    void deadLetters() throws Exception {
        List<Long> dead = deadLetters("order-1", "order-2");
        assertThat(run("outbox", "list").out())
                .containsPattern(dead.get(0) + " +default +order-1 +charge +1 +.*no answer")
                .contains("order-2");
        String first = dead.get(0).toString();
        assertThat(run("outbox", "retry", first).exitCode())
                .as("a reason is needed")
                .isEqualTo(Cli.USAGE);
        assertThat(run("outbox", "retry", first, "--reason", "they are back").exitCode())
                .isZero();
        assertThat(run("outbox", "retry", first, "--reason", "again").exitCode())
                .as("it is dead no more")
                .isEqualTo(Cli.NOT_FOUND);
        assertThat(run("keys", "history", "order-1").out()).contains("to be tried again: they are back");

        HttpRequest.BodyPublisher second = HttpRequest.BodyPublishers.ofString(
                "{\"id\": %d, \"reason\": \"paid by hand\"}".formatted(dead.get(1)));
        assertThat(gateway.send(admin("/v1/outbox/drop").POST(second)).statusCode())
                .isEqualTo(200);
        assertThat(gateway.send(admin("/v1/outbox/drop").POST(second)).statusCode())
                .as("it is gone")
                .isEqualTo(404);
        assertThat(run("keys", "history", "order-2").out()).contains("dropped: paid by hand");
        assertThat(run("outbox", "list", "--json").out()).doesNotContain("order-");
    }

    /** Calls that another program, on the gateway's database, has tried to make once and given up; their numbers. */
    private List<Long> deadLetters(String... keys) throws Exception {
        Path file = gateway.data().resolve("onlyonce.db");
        try (SqlStore store = SqlStore.sqlite(file);
                Outbox outbox = store.outbox()
                        .triesMax(1)
                        .handler("charge", row -> {
                            throw new IllegalStateException("no answer");
                        })
                        .build();
                Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file + "?busy_timeout=60000")) {
            connection.setAutoCommit(false);
            for (String key : keys) {
                byte[] payload = key.getBytes(StandardCharsets.UTF_8);
                outbox.accept(
                        connection, Key.of("default", "POST /**", key), Fingerprint.of(payload), "charge", payload);
            }
            connection.commit();
            assertThat(outbox.deliverDue()).isEqualTo(keys.length);
            return outbox.listDead(0, keys.length).stream().map(OutboxRow::id).toList();
        }
    }

    @Test
    @DisplayName("S5 needs the credential, which only its owner can read")
    void credential() throws Exception {
        Path token = gateway.data().resolve("admin-token");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(token)))
                .isEqualTo("rw-------");
        for (String path : List.of("/v1/keys", "/v1/stats", "/v1/schema", "/v1/nothing")) {
            HttpRequest.Builder bare = HttpRequest.newBuilder(gateway.admin(path));
            assertThat(gateway.send(bare).statusCode()).as(path).isEqualTo(401);
            assertThat(gateway.send(bare.copy().header("Authorization", "Bearer wrong"))
                            .statusCode())
                    .as(path)
                    .isEqualTo(401);
        }
        assertThat(gateway.send(admin("/v1/stats")).body())
                .contains("\"completed\":0")
                .contains("\"liveClaims\":0");
        assertThat(gateway.get("/v1/stats").body())
                .as("the public listener passes it on like anything else")
                .doesNotContain("liveClaims");
    }

    @Test
    @DisplayName(
            "is told that a body is too large before it is sent whole, nothing is done, and the connection is closed")
    void tooLarge() throws Exception {
        gateway.post("/payments", "order-1", "{}");
        String evict = "{\"key\": {\"tenant\": \"default\", \"key\": \"order-1\"}, \"reason\": \"test\"}";
        String token = Files.readString(gateway.data().resolve("admin-token")).strip();
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), gateway.admin("").getPort())) {
            // Less than a connection may idle.
            socket.setSoTimeout(30_000);
            RawUpstream.write(
                    socket,
                    RawUpstream.lines(
                            "POST /v1/keys/evict HTTP/1.1",
                            "Host: a",
                            "Authorization: Bearer " + token,
                            "Content-Length: " + (40 << 20)));
            RawUpstream.write(socket, evict + " ".repeat(21 << 20));
            String head = RawUpstream.head(socket.getInputStream());
            assertThat(head)
                    .startsWith("HTTP/1.1 413 ")
                    .containsIgnoringCase("\r\nConnection: close\r\n")
                    .containsIgnoringCase("\r\nContent-Type: application/problem+json\r\n");
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .contains("\"status\":413")
                    .contains("20 MiB");
        }
        HttpRequest.Builder whole = HttpRequest.newBuilder(gateway.admin("/v1/keys/evict"))
                .header("Authorization", "Bearer " + token)
                .POST(HttpRequest.BodyPublishers.ofString(evict + " ".repeat(21 << 20)));
        assertThat(gateway.send(whole).statusCode()).isEqualTo(413);
        assertThat(run("keys", "show", "order-1").exitCode()).isZero();
    }

    @Test
    @DisplayName("has a database that only its owner can read, because it holds responses")
    void ownersDatabase() throws Exception {
        gateway.post("/payments", "order-1", "{}");
        for (String name : List.of("onlyonce.db", "onlyonce.db-wal")) {
            Path file = gateway.data().resolve(name);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .as(name)
                    .isEqualTo("rw-------");
        }
        Path named = folder.resolve("named.db");
        OpenStore.open(new StoreSettings("jdbc:sqlite:" + named, null, null, true, null), folder)
                .close();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(named)))
                .isEqualTo("rw-------");
    }

    @Test
    @DisplayName("S1 sees every decision counted under the published names, and health")
    void metrics() throws Exception {
        gateway.post("/payments", "order-1", "{}");
        gateway.post("/payments", "order-1", "{}");
        gateway.post("/payments", "order-1", "{\"x\":1}");
        gateway.post("/broken", "order-2", "{}");
        gateway.post("/broken", "order-2", "{}");
        gateway.post("/status/503", "order-3", "{}");
        gateway.post("/status/503", "order-3", "{}");
        duplicateOfARunningRequest();
        String metrics =
                gateway.send(HttpRequest.newBuilder(gateway.admin("/metrics"))).body();
        for (String name : List.of("created", "replay", "in_progress", "key_misuse", "failed_retry", "unknown")) {
            assertThat(metrics)
                    .containsPattern("api_idempotency_reserve_" + name
                            + "_total\\{operation=\"POST /\\*\\*\",tenant=\"default\"\\} [1-9]\\.0");
        }
        assertThat(metrics).contains("reconcile_scheduled_total 1.0");
        for (String name : List.of(
                "store_error",
                "zombie_key",
                "ttl_pruned",
                "reconcile_resolved",
                "reconcile_failed",
                "outbox_delivered",
                "outbox_retried",
                "outbox_dead")) {
            assertThat(metrics).contains("\n" + name + "_total 0.0");
        }
        for (String part : List.of("claim", "upstream", "settle")) {
            assertThat(metrics)
                    .containsPattern(
                            "gateway_" + part + "_seconds_bucket\\{operation=\"POST /\\*\\*\",le=\"\\+Inf\"\\} [1-9]");
        }
        assertThat(gateway.send(HttpRequest.newBuilder(gateway.admin("/health/live")))
                        .statusCode())
                .isEqualTo(200);
        assertThat(gateway.send(HttpRequest.newBuilder(gateway.admin("/health/ready")))
                        .statusCode())
                .isEqualTo(200);
    }

    private void duplicateOfARunningRequest() throws Exception {
        var held = gateway.begin("/held", "held");
        upstream.awaitHeld();
        gateway.post("/held", "held", "{}");
        upstream.release();
        held.get();
    }

    @Test
    @DisplayName("S4 has alerts and a dashboard whose metrics all exist")
    void alerts() throws Exception {
        for (int i = 0; i < 2; i++) {
            gateway.post("/payments", "order-1", "{}");
            gateway.post("/status/503", "order-4", "{}");
            gateway.post("/broken", "order-2", "{}");
        }
        gateway.post("/payments", "order-1", "{\"x\":1}");
        duplicateOfARunningRequest();
        String metrics =
                gateway.send(HttpRequest.newBuilder(gateway.admin("/metrics"))).body();
        Pattern name = Pattern.compile("\\b(api_idempotency|store|zombie|ttl|reconcile|outbox|gateway|jvm)_[a-z_]+");
        for (String file : List.of("alerts.yaml", "grafana-dashboard.json")) {
            String text = Files.readString(ConfigFileTest.root().resolve("docs/operating/" + file));
            Matcher names = name.matcher(text);
            int count = 0;
            while (names.find()) {
                count++;
                assertThat(metrics).as(file).containsPattern("(?m)^" + names.group() + "[ {]");
            }
            assertThat(count).isGreaterThan(5);
        }
        String alerts = Files.readString(ConfigFileTest.root().resolve("docs/operating/alerts.yaml"));
        assertThat(alerts)
                .contains("store_error_total")
                .contains("key_misuse_total")
                .contains("zombie_key_total")
                .contains("reconcile_backlog")
                .contains("outbox_dead_total");
    }

    @Test
    @DisplayName("prints the schema, and is told what is wrong with a command")
    void others() {
        assertThat(run("schema", "apply").out()).contains("sqlite");
        Result script = runAlone("schema", "print", "postgresql");
        assertThat(script.out()).contains("CREATE TABLE");
        assertThat(runAlone("nonsense").exitCode()).isEqualTo(Cli.USAGE);
        assertThat(runAlone("gateway", "--check", "--upstream", "nonsense").err())
                .contains("http://127.0.0.1:9000");
        Result nowhere = runAlone("bench", "nonsense");
        assertThat(nowhere.exitCode()).isEqualTo(Cli.USAGE);
        assertThat(nowhere.err()).contains("is not a URL; write for example");
        assertThat(runAlone("gateway", "--check", "--upstream", "http://a", "--port", "70000")
                        .err())
                .contains("--port must be between 0 and 65535");
        assertThat(runAlone("gateway", "--check", "--upstream", "http://a", "--admin-token-file", "none")
                        .err())
                .contains("the file none does not exist");
        assertThat(runAlone("gateway", "--check", "--upstream", "http://a").out())
                .contains("valid");
        assertThat(runAlone("gateway").exitCode()).isEqualTo(Cli.USAGE);
    }

    @Test
    @DisplayName("cannot take TLS away from an upstream whose authority is configured, by naming another URL")
    void movedUpstream() throws Exception {
        SelfSigned.in(folder);
        String config = Files.writeString(
                        folder.resolve("tls.yaml"), "upstreams: [{url: https://a, tls: {ca: cert.pem}}]")
                .toString();
        assertThat(runAlone("gateway", "--check", "--config", config, "--upstream", "https://b")
                        .out())
                .contains("valid");
        Result plain = runAlone("gateway", "--check", "--config", config, "--upstream", "http://b");
        assertThat(plain.exitCode()).isEqualTo(Cli.USAGE);
        assertThat(plain.err()).contains("--upstream needs https://");
    }

    private static Result runAlone(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = Cli.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        int exitCode = line.execute(arguments);
        return new Result(exitCode, out.toString(), err.toString());
    }
}
