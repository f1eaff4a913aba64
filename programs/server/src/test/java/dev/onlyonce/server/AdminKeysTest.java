package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.server.cli.Cli;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("An operator of keys")
class AdminKeysTest extends AdminFixture {

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
    @DisplayName("sees which path a key was used for, where one operation stands for all paths")
    void targets() throws Exception {
        gateway.post("/v1/charges/ch_1/refund?token=secret", "order-1", "{}");
        gateway.post("/" + "x".repeat(2000), "order-2", "{}");
        gateway.post("/%1b%5B31m%0aorder-9", "order-3", "{}");
        gateway.post("/v1/charges/ch_1/refund?token=secret", "order-1", "{}");
        assertThat(run("keys", "list").out())
                .containsPattern("OPERATION +TARGET +CREATED")
                .containsPattern("order-1 .*POST /\\*\\* +POST /v1/charges/ch_1/refund +2")
                .containsPattern("order-2 .*POST /\\*\\* +POST /x{53}… +2")
                .containsPattern("order-3 .*POST /\\*\\* +POST /%1b%5B31m%0aorder-9 +2")
                .doesNotContain("secret")
                .doesNotContain("\u001b");
        assertThat(run("keys", "list", "--json").out())
                .contains("\"target\" : \"POST /v1/charges/ch_1/refund\"")
                .contains("\"target\" : \"POST /" + "x".repeat(503) + "…\"");
        assertThat(run("keys", "show", "order-1").out()).containsPattern("target +POST /v1/charges/ch_1/refund\n");
        assertThat(run("keys", "show", "order-1", "--json").out())
                .contains("\"target\" : \"POST /v1/charges/ch_1/refund\"");
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
    @DisplayName("D6 settles unknown keys as found or absent, and no others")
    void resolve() throws Exception {
        for (String key : List.of("a", "b", "c")) {
            assertThat(gateway.post("/broken", key, "{}").statusCode()).isEqualTo(504);
        }
        assertThat(run("reconcile", "list").out()).contains("a").contains("no");
        Path body = Files.writeString(folder.resolve("answer.json"), "{\"id\":7}");
        Result found =
                run("keys", "resolve", "a", "--found", "--status", "201", "--body", body.toString(), "--reason", "r");
        assertThat(found.exitCode()).isZero();
        HttpResponse<String> replayed = gateway.post("/broken", "a", "{}");
        assertThat(replayed.statusCode()).isEqualTo(201);
        assertThat(replayed.body()).isEqualTo("{\"id\":7}");
        assertThat(replayed.headers().firstValue("Content-Type")).hasValue("application/json");

        assertThat(run("keys", "resolve", "b", "--found", "--reason", "r").exitCode())
                .isZero();
        assertThat(gateway.post("/broken", "b", "{}").body()).contains("response_not_stored");

        assertThat(run("keys", "resolve", "c", "--absent", "--attempt", "1", "--reason", "r")
                        .exitCode())
                .isZero();
        int before = broken.heads().size();
        assertThat(gateway.post("/broken", "c", "{}").statusCode()).isEqualTo(504);
        assertThat(broken.heads()).hasSize(before + 1);

        Result late = run("keys", "resolve", "c", "--absent", "--attempt", "1", "--reason", "late news");
        assertThat(late.exitCode()).as("attempt 2 is the one in doubt now").isEqualTo(Cli.NOT_FOUND);
        assertThat(late.err()).contains("not attempt 1 that is unknown");
        assertThat(run("keys", "resolve", "c", "--absent", "--reason", "r").exitCode())
                .as("which attempt must be said")
                .isEqualTo(Cli.USAGE);

        Result again = run("keys", "resolve", "a", "--absent", "--attempt", "1", "--reason", "r");
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
            List<String> command = new ArrayList<>(List.of("keys", "resolve", "a", "--found", "--reason", "r"));
            command.addAll(wrong);
            Result refused = run(command.toArray(String[]::new));
            assertThat(refused.exitCode()).as("%s", wrong).isEqualTo(Cli.USAGE);
            assertThat(refused.err()).hasLineCount(1);
        }
        assertThat(run("keys", "resolve", "a", "--found", "--status", "201", "--header", "X-A=b", "--reason", "r")
                        .exitCode())
                .isZero();
        assertThat(gateway.post("/broken", "a", "{}").headers().firstValue("X-A"))
                .hasValue("b");
    }

    @Test
    @DisplayName("O2 sees what a service answered as text: it neither commands the terminal nor forges lines")
    void terminal() throws Exception {
        gateway.post("/broken", "order-1", "{}");
        String hostile = "gone\u001b[2J\u009b31m\u202e\nAT  ATTEMPT\nforged";
        Path body = Files.writeString(folder.resolve("body"), hostile);
        Result settled = run(
                "keys", "resolve", "order-1", "--found", "--status", "201", "--body", body.toString(), "--reason", "r");
        assertThat(settled.err()).isEmpty();
        Result shown = run("keys", "show", "order-1");
        assertThat(shown.out())
                .contains("gone\\u001b[2J\\u009b31m\\u202e\\nAT  ATTEMPT\\nforged")
                .doesNotContain("\u001b", "\u009b", "\u202e", "\nforged");
    }
}
