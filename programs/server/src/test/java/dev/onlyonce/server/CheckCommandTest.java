package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.onlyonce.server.cli.Cli;
import dev.onlyonce.testkit.broken.Flaw;
import dev.onlyonce.testkit.broken.FlawedServer;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Document;

@DisplayName("onlyonce check")
class CheckCommandTest {
    private static final String BODY = "{\"amount\": 1, \"to\": \"<script>alert('x')</script>\"}";

    @TempDir
    Path folder;

    /** What the command did. */
    record Ran(int exitCode, String out, String err) {}

    static Ran check(String url, String... more) {
        List<String> arguments = new ArrayList<>(List.of("check", url));
        arguments.addAll(List.of(more));
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = Cli.commandLine()
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .execute(arguments.toArray(String[]::new));
        return new Ran(code, out.toString(), err.toString());
    }

    @Test
    @DisplayName("exits with 0 if what applies passes, and prints progress where it is not in the way")
    void passes() {
        try (FlawedServer server = FlawedServer.start(null)) {
            Ran ran = check(server.url().toString(), "--body", BODY, "--only", "replay,marked,other-body");
            assertThat(ran.exitCode()).as(ran.out() + ran.err()).isZero();
            assertThat(ran.out())
                    .contains("PASS  replay", "PASS  marked", "PASS  other-body", "n/a   race", "Grade A  3 passed")
                    .doesNotContain("checking", "\u001b");
            assertThat(ran.err()).contains("checking replay");
        }
    }

    @Test
    @DisplayName("exits with 1 if a check fails, and shows the two exchanges side by side, without credentials")
    void fails() {
        try (FlawedServer server = FlawedServer.start(Flaw.OTHER_BODY)) {
            Ran ran = check(
                    server.url().toString(),
                    "--body",
                    BODY,
                    "--header",
                    "Authorization: Bearer hush",
                    "--profile",
                    "strict",
                    "--skip",
                    "date,remembered,late-effect");
            assertThat(ran.exitCode()).isEqualTo(1);
            assertThat(ran.out())
                    .contains("FAIL  other-body", "Grade F")
                    .contains("other-body: it got 201, marked as a replay", "IETF draft: 2.7: 422")
                    .containsPattern("POST /payments +\\| POST /payments")
                    .containsPattern("201 +\\| 201")
                    .contains("Authorization: (hidden)")
                    .doesNotContain("hush");
        }
    }

    @Test
    @DisplayName("reports as JSON, as JUnit XML and as one HTML page in which nothing from outside is markup")
    void reports() throws Exception {
        Path junit = folder.resolve("check.xml");
        Path html = folder.resolve("check.html");
        try (FlawedServer server = FlawedServer.start(Flaw.REPLAY)) {
            Ran ran = check(
                    server.url().toString(),
                    "--body",
                    BODY,
                    "--only",
                    "replay,marked,http-2",
                    "--json",
                    "--junit",
                    junit.toString(),
                    "--html",
                    html.toString());
            assertThat(ran.exitCode()).isEqualTo(1);
            JsonNode json = new JsonMapper().readTree(ran.out());
            assertThat(json.get("grade").asText()).isEqualTo("F");
            assertThat(json.at("/checks/0/id").asText()).isEqualTo("replay");
            assertThat(json.at("/checks/0/result").asText()).isEqualTo("fail");
            assertThat(json.at("/checks/0/evidence/1/answer").asText()).contains("Idempotent-Replayed: true");
        }
        Document xml = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(junit.toFile());
        assertThat(xml.getDocumentElement().getAttribute("failures")).isEqualTo("1");
        assertThat(xml.getElementsByTagName("failure").item(0).getTextContent()).contains("<script>alert('x')");
        assertThat(Files.readString(html))
                .contains("&lt;script&gt;alert(&#39;x&#39;)", "the header Location differs")
                .doesNotContain("<script", " src=", "http-equiv=\"refresh\"", "href=");
    }

    @Test
    @DisplayName("fails a server that honours keys over HTTP/1.1 only")
    void http2() throws Exception {
        Vertx vertx = Vertx.vertx();
        try {
            AtomicInteger effects = new AtomicInteger();
            Map<String, String> answers = new ConcurrentHashMap<>();
            int port = vertx.createHttpServer()
                    .requestHandler(request ->
                            request.body().onSuccess(body -> request.response().end(answer(request, effects, answers))))
                    .listen(0, "127.0.0.1")
                    .await(60, TimeUnit.SECONDS)
                    .actualPort();
            Ran ran = check("http://127.0.0.1:" + port + "/things", "--body", "{}", "--only", "http-2,chunked,replay");
            assertThat(ran.exitCode()).isEqualTo(1);
            assertThat(ran.out()).contains("FAIL  http-2", "PASS  replay", "PASS  chunked");
        } finally {
            vertx.close().await(60, TimeUnit.SECONDS);
        }
    }

    @Test
    @DisplayName("O3 takes requests over HTTP/2 from those that are allowed too")
    void http2Budget() throws Exception {
        Vertx vertx = Vertx.vertx();
        try {
            AtomicInteger requests = new AtomicInteger();
            int port = vertx.createHttpServer()
                    .requestHandler(request -> request.body()
                            .onSuccess(body -> request.response().end("effect " + requests.incrementAndGet())))
                    .listen(0, "127.0.0.1")
                    .await(60, TimeUnit.SECONDS)
                    .actualPort();
            String url = "http://127.0.0.1:" + port + "/things";
            Ran ran = check(url, "--body", "{}", "--only", "http-2", "--requests-max", "3");
            assertThat(ran.out()).contains("n/a   http-2", "all 3 requests that are allowed have been sent");
            assertThat(requests).hasValue(3);
        } finally {
            vertx.close().await(60, TimeUnit.SECONDS);
        }
    }

    private static String answer(HttpServerRequest request, AtomicInteger effects, Map<String, String> answers) {
        String key = request.getHeader("Idempotency-Key");
        return key == null || request.version() == HttpVersion.HTTP_2
                ? "effect " + effects.incrementAndGet()
                : answers.computeIfAbsent(key, any -> "effect " + effects.incrementAndGet());
    }

    @Test
    @DisplayName("on another host sends nothing before somebody agrees to the effects, and says how to agree")
    void otherHost() {
        Ran ran = check("http://192.0.2.1:9/payments", "--body", "{}");
        assertThat(ran.exitCode()).isEqualTo(2);
        assertThat(ran.err())
                .containsPattern("up to \\d+ effects at 192.0.2.1, more than --effects-max 10")
                .contains("--yes")
                .doesNotContain("checking");
    }

    @Test
    @DisplayName(
            "says with 2 that the API cannot be reached, or does not accept the request that every check begins with")
    void cannotCheck() {
        assertThat(check("http://127.0.0.1:1/payments", "--body", "{}"))
                .satisfies(ran -> assertThat(ran.exitCode()).isEqualTo(2))
                .satisfies(ran -> assertThat(ran.err()).contains("No answer from http://127.0.0.1:1/payments"));
        try (FlawedServer server = FlawedServer.start(null)) {
            Ran refused = check(server.url().toString(), "--body", "{\"amount\": -1}");
            assertThat(refused.exitCode()).isEqualTo(2);
            assertThat(refused.err()).contains("answered 402. Correct --body or --header.", "declined");
            Ran uncounted = check(server.url().toString(), "--body", "{}", "--count", server.url() + "#/nothing");
            assertThat(uncounted.exitCode()).isEqualTo(2);
            assertThat(uncounted.err()).contains("without a number or an array at \"/nothing\"");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ftp://a/ --body {}",
                "http://u:p@127.0.0.1/ --body {}",
                "http://127.0.0.1:1/ --body {} --header nothing",
                "http://127.0.0.1:1/ --body {} --header Idempotency-Key:x",
                "http://127.0.0.1:1/ --body {} --only nonsense",
                "http://127.0.0.1:1/ --body {} --only replay --skip replay",
                "http://127.0.0.1:1/ --body {} --patience 0",
                "http://127.0.0.1:1/ --body {} --profile nobody",
                "http://127.0.0.1:1/ --body {} --requests-max 0",
                "http://127.0.0.1:1/ --body {} --remember -1",
                "http://127.0.0.1:1/ --body {} --html /no/such/folder/x.html",
                "http://127.0.0.1:1/"
            })
    @DisplayName("refuses a wrong command line with 2 before it sends anything")
    void usage(String line) {
        String[] words = line.split(" ");
        Ran ran = check(words[0], List.of(words).subList(1, words.length).toArray(String[]::new));
        assertThat(ran.exitCode()).as(ran.err()).isEqualTo(2);
        assertThat(ran.err()).doesNotContain("No answer", "u:p");
    }
}
