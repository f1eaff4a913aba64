package dev.onlyonce.server;

import dev.onlyonce.server.cli.Cli;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** A running gateway with one upstream that counts and one that breaks, and an operator's command line and API. */
abstract class AdminFixture {
    @TempDir
    Path folder;

    CountingUpstream upstream;
    RawUpstream broken;
    Running gateway;

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

    /** What a command left behind. */
    record Result(int exitCode, String out, String err) {}

    /** A command for the running gateway, or for the database that it names. */
    Result run(String... arguments) {
        List<String> all = new ArrayList<>(List.of(arguments));
        if (!all.contains("--db")) {
            all.addAll(List.of(
                    "--admin",
                    gateway.admin("").toString(),
                    "--data",
                    gateway.data().toString()));
        }
        return runAlone(all.toArray(String[]::new));
    }

    /** A command as it is. */
    static Result runAlone(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = Cli.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        int exitCode = line.execute(arguments);
        return new Result(exitCode, out.toString(), err.toString());
    }

    /** A request to the API with the credential. */
    HttpRequest.Builder admin(String path) throws Exception {
        String token = Files.readString(gateway.data().resolve("admin-token")).strip();
        return HttpRequest.newBuilder(gateway.admin(path)).header("Authorization", "Bearer " + token);
    }
}
