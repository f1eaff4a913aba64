package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("docs/guides/other-languages.md")
class OtherLanguagesTest {
    private static final int LINES_MAX = 24;

    @TempDir
    Path folder;

    /** Answers with these statuses, one after the other, and then with 201. */
    private static final class Service implements AutoCloseable {
        private final HttpServer server;
        private final Queue<Integer> statuses = new ConcurrentLinkedQueue<>();
        private final Queue<String> bodies = new ConcurrentLinkedQueue<>();

        Service(Integer... first) throws IOException {
            statuses.addAll(List.of(first));
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/", exchange -> {
                bodies.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
                Integer status = statuses.poll();
                byte[] answer = ("charge " + bodies.size()).getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(status == null ? 201 : status, answer.length);
                exchange.getResponseBody().write(answer);
                exchange.close();
            });
            server.start();
        }

        URI url() {
            return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
        }

        @Override
        public void close() {
            server.stop(0);
        }
    }

    private record Ran(int exitCode, String out) {}

    private Ran run(List<String> program, Object... arguments) throws Exception {
        List<String> command = new ArrayList<>(program);
        Stream.of(arguments).map(Object::toString).forEach(command::add);
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ran(process.waitFor(), out.strip());
    }

    private static boolean isOnPath(String program) {
        return Stream.of(System.getenv("PATH").split(":"))
                .anyMatch(directory -> Files.isExecutable(Path.of(directory, program)));
    }

    @ParameterizedTest
    @CsvSource({"sh, sh, pay.sh", "js, node, pay.mjs", "python, python3, pay.py"})
    @DisplayName(
            "X1 X3 has clients that keep the key, try again with it, stop at what is definite, and never pay twice")
    void clients(String language, String program, String file) throws Exception {
        assumeTrue(isOnPath(program), "skipped: there is no program \"" + program + "\" on the PATH");
        Matcher block = Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(ConfigFileTest.root().resolve("docs/guides/other-languages.md")));
        assertThat(block.find()).isTrue();
        assertThat(block.group(1).lines().filter(line -> !line.isBlank())).hasSizeLessThanOrEqualTo(LINES_MAX);
        List<String> client = List.of(
                program, Files.writeString(folder.resolve(file), block.group(1)).toString());

        try (Service service = new Service(503, 500);
                Running gateway = Running.start(folder, service.url(), "tenants: {fixed: shop}\n")) {
            String url = gateway.url("/payments").toString();
            assertThat(run(client, url, "order-1", 990)).isEqualTo(new Ran(0, "201 charge 3"));
            assertThat(service.bodies).as("what was sent").hasSize(3);
            assertThat(List.copyOf(service.bodies)).containsOnly(service.bodies.peek());
            assertThat(run(client, url, "order-1", 990))
                    .as("again, after a crash")
                    .isEqualTo(new Ran(0, "201 charge 3"));
            assertThat(service.bodies).hasSize(3);

            Ran other = run(client, url, "order-1", 1);
            assertThat(other.exitCode()).as("another amount for one order").isEqualTo(1);
            assertThat(other.out()).contains("422");
            assertThat(run(client, url, "order-2", 990)).isEqualTo(new Ran(0, "201 charge 4"));
        }
    }
}
