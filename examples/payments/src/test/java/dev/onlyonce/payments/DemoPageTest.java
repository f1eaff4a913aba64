package dev.onlyonce.payments;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.onlyonce.payments.provider.Provider;
import dev.onlyonce.payments.provider.ProviderOptions;
import dev.onlyonce.testservers.BrowserTab;
import dev.onlyonce.testservers.Chromium;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The demo's page")
class DemoPageTest {
    private static final Path PICTURES = Path.of("target/screenshots");

    @TempDir
    private Path folder;

    private Provider provider;
    private PaymentsServer server;

    @BeforeEach
    void start() {
        provider = Provider.start(ProviderOptions.in(folder));
        server = PaymentsServer.start(
                "jdbc:sqlite:" + folder.resolve("payments.db"), "payments.provider.url=" + provider.url());
    }

    @AfterEach
    void stop() {
        server.close();
        provider.close();
    }

    @Test
    @DisplayName("needs no API key, and allows nothing but its own files")
    void open() throws Exception {
        PaymentsServer.Reply page = server.send("GET", "/", "", "Authorization", "");
        assertThat(page.status()).isEqualTo(200);
        assertThat(page.body())
                .contains("demo/demo.js")
                .doesNotContainPattern("<style|<script>|\\sstyle=|\\son[a-z]+=");
        assertThat(page.headers().firstValue("Content-Security-Policy"))
                .hasValueSatisfying(policy ->
                        assertThat(policy).contains("default-src 'none'").doesNotContain("unsafe"));
        assertThat(server.send("GET", "/demo/demo.js", "").status()).isEqualTo(200);
        assertThat(server.send("GET", "/demo/demo.jsx", "").status()).isEqualTo(404);
        assertThat(server.send("GET", "/demo/..%2fapplication.yaml", "").status())
                .isBetween(400, 404);
    }

    @Test
    @DisplayName("is not given to who asks for another host, as pages of other sites can make browsers do")
    void rebinding() throws Exception {
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), server.url().getPort())) {
            socket.getOutputStream()
                    .write("GET /demo/faults HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .startsWith("HTTP/1.1 421");
        }
    }

    @Test
    @DisplayName("sets the provider's faults, from JSON alone, and says what is wrong with them")
    void faults() throws Exception {
        PaymentsServer.Reply set =
                server.send("PUT", "/demo/faults", "{\"decline\": 0.5}", "Content-Type", "application/json");
        assertThat(set.json().get("decline").asDouble()).isEqualTo(0.5);
        assertThat(server.send("GET", "/demo/faults", "").json().get("decline").asDouble())
                .isEqualTo(0.5);
        assertThat(server.send("PUT", "/demo/faults", "{}", "Content-Type", "text/plain")
                        .status())
                .isEqualTo(400);
        assertThat(server.send("PUT", "/demo/faults", "not json", "Content-Type", "application/json")
                        .status())
                .isEqualTo(400);
        assertThat(server.send("GET", "/demo/state?" + "key=a&".repeat(65), "").status())
                .isEqualTo(400);
    }

    @Test
    @DisplayName("shows a key that turns from unknown to completed, and one charge in the provider's ledger")
    void newcomer() {
        if (Chromium.find().isEmpty()) {
            String line = "NOT TESTED: the demo's page in a browser. There is no Chromium on the PATH";
            System.err.println(line);
            abort(line);
        }
        try (Chromium browser = Chromium.start();
                BrowserTab tab = browser.open()) {
            tab.look(1440, 960, false);
            tab.go(server.url() + "/");
            tab.click("text=Pay");
            tab.awaitText("201 Paid: charged");
            tab.click("text=Pay again");
            tab.awaitText("Idempotent-Replayed: true");
            tab.click("text=Same key, other amount");
            tab.awaitText("422 Another amount: refused");
            tab.await("document.querySelectorAll('#ledger tr').length === 1");

            tab.click("#faults input");
            tab.await("fetch('demo/faults').then(a => a.json()).then(f => f.reset_after === 1)");
            tab.click("text=Pay");
            // 409 while nobody knows, or 201 if the reconciler finds the charge within the time that a caller waits.
            tab.await("document.querySelectorAll('#ledger tr').length === 2");
            tab.picture(PICTURES.resolve("demo.png"));
            tab.await("document.querySelector('#keys tr .badge.now').innerText === 'completed'");
            tab.click("text=Pay again");
            tab.awaitText("201 Paid again: the first answer again");
            tab.await("document.querySelectorAll('#ledger tr').length === 2");
            tab.await("document.querySelector('#twice').innerText === '0'");

            assertThat(tab.inaccessible()).isEmpty();
            tab.look(360, 740, true);
            assertThat(tab.inaccessible()).isEmpty();
            tab.await("document.documentElement.scrollWidth <= 360");
            tab.picture(PICTURES.resolve("demo-narrow-dark.png"));

            tab.click("#console");
            tab.await("document.querySelector('h1')?.innerText === 'Overview' && document.querySelector('.tiles')");
            assertThat(tab.look("performance.getEntries().reduce((sum, one) => sum + (one.transferSize ?? 0), 0)")
                            .asLong())
                    .as("bytes of the first view over the wire")
                    .isBetween(10_000L, 100_000L);
            tab.click("text=Keys");
            tab.await("document.querySelector('tbody tr .key')");
            assertThat(tab.inaccessible()).isEmpty();
            tab.picture(PICTURES.resolve("console.png"));
            assertThat(tab.complaints()).isEmpty();
            assertThat(tab.requested())
                    .allSatisfy(request -> assertThat(request.toString()).matches("about:.*|" + server.url() + "/.*"));
        }
    }
}
