package dev.onlyonce.payments;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.payments.provider.Provider;
import dev.onlyonce.payments.provider.ProviderOptions;
import dev.onlyonce.testservers.PostgresServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("./onlyonce demo, storm and provider")
@Order(1)
class CommandsTest {
    @TempDir
    private Path folder;

    private Script script;

    @BeforeEach
    void link() throws Exception {
        script = new Script(folder);
    }

    /** Status line, headers and body of what curl -i prints. */
    private record Http(String head, String body) {
        static Http of(Script.Ended curl) {
            assertThat(curl.code()).as(curl.err()).isZero();
            String[] parts = curl.out().split("\r\n\r\n", 2);
            return new Http(parts[0], parts[1]);
        }
    }

    private Http shell(String line) throws Exception {
        return Http.of(script.run("sh", "-c", line));
    }

    @Test
    @DisplayName("R1 the three curl lines do what the demo says of them, and its data are kept")
    void demo() throws Exception {
        Http first;
        List<String> curls;
        String ended;
        int listening;
        try (Script.Demo demo = script.demo()) {
            curls = demo.lines("curl");
            assertThat(curls).as(demo.text()).hasSize(3);
            first = shell(curls.get(0));
            Http retry = shell(curls.get(1));
            Http other = shell(curls.get(2));
            assertThat(first.head()).startsWith("HTTP/1.1 201").doesNotContain("Idempotent-Replayed");
            assertThat(retry.head()).startsWith("HTTP/1.1 201").contains("Idempotent-Replayed: true");
            assertThat(retry.body()).isEqualTo(first.body());
            assertThat(other.head()).startsWith("HTTP/1.1 422");
            assertThat(other.body()).contains("key_reused");
            listening = script.run("sh", "-c", curls.get(0).replace("127.0.0.1", "127.0.0.2"))
                    .code();
            ended = demo.end();
        }
        assertThat(listening).as("on an address that is not 127.0.0.1").isNotZero();
        assertThat(ended).endsWith("Ended. The data are kept in " + folder.resolve("kept") + "\n");

        try (Script.Demo again = script.demo()) {
            String port = again.lines("curl").get(0).replaceAll(".*127.0.0.1:(\\d+)/payments.*", "$1");
            Http later = shell(curls.get(0).replaceAll("127.0.0.1:\\d+", "127.0.0.1:" + port));
            assertThat(later.head()).contains("Idempotent-Replayed: true");
            assertThat(later.body()).isEqualTo(first.body());
        }
    }

    @Test
    @DisplayName("A storm against a demo on PostgreSQL ends with the provider's ledger: all charged once or declined")
    void storm() throws Exception {
        try (Script.Demo demo = script.demo("--db", PostgresServer.shared().createDatabase())) {
            String storm = demo.lines("./onlyonce storm").get(0);
            Script.Ended ended = script.run("sh", "-c", storm + " --payments 100 --copies 3");
            assertThat(ended.code()).as(ended.out() + ended.err()).isZero();
            assertThat(ended.out())
                    .containsPattern("charged once +\\d+")
                    .containsPattern("charged twice +0")
                    .containsPattern("lost +0")
                    .contains("All is well.");
        }
    }

    @Test
    @DisplayName("A storm that finds a payment charged twice says so and ends with code 1")
    void stormFails() throws Exception {
        try (Provider provider = Provider.start(ProviderOptions.in(folder).keyLifetime(Duration.ZERO));
                PaymentsServer server = PaymentsServer.start(
                        "jdbc:sqlite:" + folder.resolve("payments.db"), "payments.provider.url=" + provider.url())) {
            Script.Ended ended = script.run(
                    "./onlyonce",
                    "storm",
                    "--url=" + server.url(),
                    "--provider-url=" + provider.url(),
                    "--payments=25",
                    "--copies=2",
                    // One whose charge fails in every try needs no answer.
                    "--patience=PT20S",
                    "--fault=error_after=0.5",
                    // Else the reconciler might find every charge in doubt before a worker asks for it again.
                    "--fault=lookup_error=1");
            assertThat(ended.code()).isEqualTo(1);
            assertThat(ended.out()).containsPattern("charged twice +[1-9]").contains("SOMETHING IS WRONG.");
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
            demo --prot 1                                     | 2 | Unknown options: '--prot', '1'; see ./onlyonce demo --help
            demo --port eighty                                | 2 | Invalid value for option '--port'
            demo --db jdbc:oracle:thin:@x                     | 2 | --db: The payments run on PostgreSQL, MySQL, MariaDB and SQLite
            demo --db jdbc:postgresql://127.0.0.1:1/none      | 4 | The database cannot be used: Connection to 127.0.0.1:1 refused
            demo --db jdbc:mysql://127.0.0.1:1/none           | 4 | The database cannot be used: Socket fail to connect to 127.0.0.1:1
            demo --port TAKEN --provider-port 0               | 1 | The payments do not start: port TAKEN is in use; --port names another one
            demo --port 0 --provider-port TAKEN               | 1 | The provider does not start: Cannot listen on port TAKEN
            provider --port TAKEN                             | 1 | The provider does not start: Cannot listen on port TAKEN
            provider --fault earthquake=1                     | 2 | There is no fault called earthquake
            storm --url http://127.0.0.1:1                    | 4 | No payments at http://127.0.0.1:1
            storm --url http://127.0.0.1:TAKEN --provider-url http://127.0.0.1:1 | 4 | The provider at http://127.0.0.1:1 does not answer
            storm --url ftp://host                            | 2 | not a URL such as http://127.0.0.1:8080: ftp://host
            storm --network-fault fog=1                       | 2 | There is no fault called fog
            demo --port -1                                    | 2 | --port: -1 is no port; use 1 to 65535
            demo --provider-port 65536                        | 2 | --provider-port: 65536 is no port; use 1 to 65535
            provider --port 99999                             | 2 | --port: 99999 is no port; use 1 to 65535
            storm --payments 0                                | 2 | --payments, --copies and --open must be at least 1
            demo --broker 127.0.0.1                           | 2 | --broker: 127.0.0.1 is no address of a broker such as 127.0.0.1:9092
            storm --bookkeepers 2                             | 2 | --bookkeepers needs --broker and --db, those of the demo
            storm --bookkeepers -1                            | 2 | --bookkeepers must not be negative
            storm --bookkeepers 1 --broker 127.0.0.1:1 --db jdbc:oracle:x | 2 | --db: The payments run on PostgreSQL
            storm --bookkeepers 1 --broker 127.0.0.1:1 --db jdbc:sqlite:x --kill-every PT0S | 2 | --kill-every must be positive
            storm --bounce-broker true                        | 2 | --bounce-broker needs --bookkeepers
            bookkeeper --db jdbc:oracle:x --broker 127.0.0.1:9092 | 2 | --db: The payments run on PostgreSQL
            bookkeeper --db jdbc:postgresql://127.0.0.1:1/none --broker 127.0.0.1:9092 | 4 | The database cannot be used: Connection to 127.0.0.1:1 refused
            bookkeeper --db jdbc:sqlite::memory: --broker nowhere | 2 | --broker: nowhere is no address of a broker such as 127.0.0.1:9092
            """)
    @DisplayName("what is wrong is said in one line, with an exit code")
    void wrong(String command, int code, String message) throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            String port = String.valueOf(taken.getLocalPort());
            String given = command.replace("TAKEN", port)
                    .replaceFirst("^(demo|provider)", "$1 --data " + folder.resolve("wrong"));
            StringWriter err = new StringWriter();
            int ended = Main.commandLine().setErr(new PrintWriter(err, true)).execute(given.split(" +"));
            assertThat(ended).as(err.toString()).isEqualTo(code);
            assertThat(err.toString().lines().toList())
                    .singleElement()
                    .asString()
                    .startsWith(message.replace("TAKEN", port));
        }
    }

    @Test
    @DisplayName("what is wrong is all that people see")
    void wrongInTheShell() throws Exception {
        Script.Ended ended = script.run("./onlyonce", "demo", "--port", "-1");
        assertThat(ended.code()).isEqualTo(2);
        assertThat(ended.out() + ended.err())
                .isEqualTo("--port: -1 is no port; use 1 to 65535, or 0 for any free one\n");
    }
}
