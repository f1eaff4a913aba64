package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.server.cli.Cli;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

@DisplayName("onlyonce send")
class SendCommandTest {
    @TempDir
    private Path folder;

    private final CountingUpstream upstream = new CountingUpstream();

    @AfterEach
    void stop() {
        upstream.close();
    }

    private record Ran(int code, String out, String err) {}

    private Ran run(String... arguments) {
        List<String> all = new ArrayList<>(List.of("send"));
        all.addAll(List.of(arguments));
        if (!all.contains("--journal")) {
            all.addAll(1, List.of("--journal", folder.resolve("home/journal").toString()));
        }
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = Cli.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        int code = line.execute(all.toArray(String[]::new));
        return new Ran(code, out.toString(), err.toString());
    }

    private String url(String path) {
        return upstream.url() + path;
    }

    @Test
    @DisplayName("sends a file once, prints the answer, and answers a repetition from the journal")
    void sends() throws Exception {
        Path body = Files.writeString(folder.resolve("body.json"), "{\"cents\":1}");
        Ran first = run("--id", "order-42", "-X", "POST", "-d", "@" + body, "-H", "X-Shop: 7", url("/pay"));
        assertThat(first.code()).isZero();
        assertThat(first.out()).isEqualTo("{\"effect\":1,\"bytes\":11}\n");
        assertThat(first.err()).contains("order-42 is done: 201");
        assertThat(upstream.header("X-Shop")).isEqualTo("7");
        assertThat(upstream.header("Content-Type")).isEqualTo("application/json");
        Ran again = run("--id", "order-42", "-X", "POST", "-d", "@" + body, url("/pay"));
        assertThat(again.code()).isZero();
        assertThat(again.out()).isEqualTo(first.out());
        assertThat(upstream.effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("X2 leaves what is in doubt in the journal, lists it, and resumes it with the same key")
    void resumes() throws Exception {
        String nobody;
        try (ServerSocket free = new ServerSocket(0)) {
            nobody = "http://127.0.0.1:" + free.getLocalPort() + "/pay";
        }
        Ran doubt = run("--id", "order-1", "--attempts", "1", "-d", "{}", nobody);
        assertThat(doubt.code()).isEqualTo(Cli.IN_DOUBT);
        assertThat(doubt.err()).contains("order-1 is in doubt", "nothing was sent");
        assertThat(run("--pending").out()).contains("order-1", "POST", nobody);
        assertThat(run("--resume", "--attempts", "1").code()).isEqualTo(Cli.IN_DOUBT);
        assertThat(run("--id", "order-1", "--attempts", "1").code()).isEqualTo(Cli.IN_DOUBT);
        assertThat(run("--id", "order-1", "--forget").code()).isZero();
        assertThat(run("--id", "order-1", "--forget").code()).isEqualTo(Cli.NOT_FOUND);
        assertThat(run("--resume").code()).isZero();
    }

    @Test
    @DisplayName("ends with 6 for a refusal, and prints it")
    void refused() {
        Ran ran = run("--id", "order-2", "-d", "{}", url("/status/402"));
        assertThat(ran.code()).isEqualTo(6);
        assertThat(ran.out()).isEqualTo("{\"effect\":1}\n");
        assertThat(ran.err()).contains("order-2 was refused: 402");
    }

    @Test
    @DisplayName("says what is wrong with the command line, and sends nothing")
    void usage() throws Exception {
        assertThat(run(url("/pay")).err()).contains("--id is missing");
        assertThat(run("--id", "a", "-d", "@" + folder.resolve("none"), url("/pay"))
                        .err())
                .contains("cannot be read");
        assertThat(run("--id", "a", "/pay").err()).contains("cannot be sent to");
        assertThat(run("--id", "a", "-H", "nonsense", url("/pay")).err()).contains("Name: value");
        assertThat(run("--id", "a", "-H", "Idempotency-Key: b", url("/pay")).err())
                .contains("leave it out");
        assertThat(run("--id", "x".repeat(10_000), url("/pay")).err()).contains("1 to 255 characters");
        assertThat(run().err()).contains("A URL is missing");
        Path garbage = Files.writeString(folder.resolve("garbage"), "garbage");
        Ran none = run("--journal", garbage.toString(), "--id", "a", url("/pay"));
        assertThat(none.code()).isEqualTo(7);
        assertThat(none.err()).contains("is not a journal");
        assertThat(run("--id", "nobody").code()).isEqualTo(Cli.NOT_FOUND);
        run("--id", "b", "-d", "1", url("/pay"));
        Ran other = run("--id", "b", "-d", "2", url("/pay"));
        assertThat(other.code()).isEqualTo(8);
        assertThat(other.err()).contains("was used for another request");
        assertThat(upstream.effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("X6 gives headers to the host of a call alone, and asks for it when open calls go to several")
    void origins() throws Exception {
        try (CountingUpstream other = new CountingUpstream()) {
            run("--id", "a", "--attempts", "1", "-d", "{}", url("/status/500"));
            run("--id", "b", "--attempts", "1", "-d", "{}", other.url() + "/status/500");
            int before = upstream.effects() + other.effects();
            Ran both = run("--resume", "--attempts", "1", "-H", "Authorization: Bearer secret");
            assertThat(both.code()).isEqualTo(Cli.USAGE);
            assertThat(both.err())
                    .contains(upstream.url().toString(), other.url().toString(), "--to", "Nothing was sent");
            assertThat(upstream.effects() + other.effects()).isEqualTo(before);
            Ran one = run(
                    "--resume",
                    "--attempts",
                    "1",
                    "--to",
                    upstream.url().toString(),
                    "-H",
                    "Authorization: Bearer secret");
            assertThat(one.code()).isEqualTo(Cli.IN_DOUBT);
            assertThat(upstream.header("Authorization")).isEqualTo("Bearer secret");
            assertThat(other.header("Authorization")).isEmpty();
            assertThat(other.effects()).isEqualTo(1);
            assertThat(run("--resume", "--attempts", "1").code()).isEqualTo(Cli.IN_DOUBT);
            assertThat(other.effects()).isEqualTo(2);
        }
    }
}
