package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.server.cli.Cli;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

@DisplayName("A gateway that seals stored responses")
class EncryptionTest {
    @TempDir
    Path folder;

    private void key(String name, String permissions, int bytes) throws IOException {
        byte[] key = name.repeat(bytes).substring(0, bytes).getBytes(StandardCharsets.US_ASCII);
        Path file = Files.writeString(folder.resolve(name), Base64.getEncoder().encodeToString(key) + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
    }

    private static boolean stores(Path data, String text) throws IOException {
        try (Stream<Path> files = Files.list(data)) {
            for (Path file : files.toList()) {
                if (new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).contains(text)) {
                    return true;
                }
            }
            return false;
        }
    }

    @Test
    @DisplayName("R1 replays them, also after its key was rotated, and keeps nothing readable")
    void sealed() throws Exception {
        key("one", "rw-------", 32);
        key("two", "rw-------", 16);
        try (CountingUpstream upstream = new CountingUpstream()) {
            String first;
            try (Running gateway =
                    Running.start(folder, upstream.url(), "store: {encryption: {current: 1, keys: {1: one}}}")) {
                first = gateway.post("/payments", "k1", "{}").body();
                assertThat(gateway.post("/payments", "k1", "{}").body()).isEqualTo(first);
                assertThat(stores(gateway.data(), "k1")).isTrue();
                assertThat(stores(gateway.data(), first)).isFalse();
            }
            try (Running gateway = Running.start(
                    folder, upstream.url(), "store: {encryption: {current: 2, keys: {1: one, 2: two}}}")) {
                assertThat(gateway.post("/payments", "k1", "{}").body()).isEqualTo(first);
            }
            try (Running gateway =
                    Running.start(folder, upstream.url(), "store: {encryption: {current: 2, keys: {2: two}}}")) {
                assertThat(gateway.post("/payments", "k1", "{}").statusCode())
                        .as("without its key nothing runs")
                        .isEqualTo(503);
            }
            assertThat(upstream.effects("k1")).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("keeps them sealed from an operator who has only the database, and says which key it takes")
    void offline() throws Exception {
        key("one", "rw-------", 32);
        String db = "jdbc:sqlite:" + folder.resolve("data").resolve("onlyonce.db");
        try (CountingUpstream upstream = new CountingUpstream();
                Running gateway =
                        Running.start(folder, upstream.url(), "store: {encryption: {current: 1, keys: {1: one}}}")) {
            gateway.post("/payments", "k1", "{}");
        }
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = Cli.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        assertThat(line.execute("keys", "list", "--db", db)).isZero();
        assertThat(out.toString()).contains("k1").contains("completed");
        assertThat(line.execute("keys", "show", "k1", "--db", db)).isZero();
        assertThat(out.toString())
                .contains("cannot be read", "sealed with key 1")
                .doesNotContain("effect");
        assertThat(err.toString()).isEmpty();
        assertThat(line.execute("keys", "history", "k1", "--db", db)).isZero();
    }

    @Test
    @DisplayName("does not start with a key that others can read, that is too short or that is missing, and shows none")
    void badKeys() throws Exception {
        key("open", "rw-r--r--", 32);
        key("short", "rw-------", 7);
        refused("{current: 1, keys: {1: open}}", "run: chmod 600");
        refused("{current: 1, keys: {1: short}}", "has not 16 or 32 bytes in Base64");
        refused("{current: 1, keys: {1: none}}", "does not exist or cannot be read; make one with:");
        refused("{current: 2, keys: {1: open}}", "there is no key 2; write for example keys: {2: key-2}");
        refused("{current: 1, keys: {one: open}}", "\"one\" is not a number");
    }

    private void refused(String encryption, String why) {
        assertThatThrownBy(
                        () -> Running.start(folder, URI.create("http://a"), "store: {encryption: " + encryption + "}"))
                .rootCause()
                .hasMessageContaining(why)
                .hasMessageContaining("gateway.yaml:4:")
                .hasMessageNotContaining("short".repeat(2));
    }
}
