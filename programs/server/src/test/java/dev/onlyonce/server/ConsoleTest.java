package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.onlyonce.testservers.BrowserTab;
import dev.onlyonce.testservers.Chromium;
import dev.onlyonce.testservers.PostgresServer;
import dev.onlyonce.testservers.RedisServer;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The console of a gateway, in the browser of the machine, used as an operator does. */
@DisplayName("The console")
class ConsoleTest {
    private static final Path PICTURES = Path.of("target/screenshots");
    private static final List<String> HOSTILE = List.of(
            "<script>alert(1)</script>",
            "javascript:alert(1)",
            "<img/src=x/onerror=alert(1)>",
            "{{constructor.constructor('alert(1)')()}}",
            "k".repeat(255));
    private static final int MANY = 23;
    /** What can just be stored. */
    private static final int LARGE = 1_048_000;

    private static Chromium browser;

    @TempDir
    private Path folder;

    private final RawUpstream upstream = new RawUpstream(ConsoleTest::answer);
    private Running gateway;
    private BrowserTab tab;

    /** Breaks off what is to be in doubt; answers others with whatever their path asks for, however nasty. */
    private static void answer(String head, Socket socket) throws Exception {
        String path = head.split(" ", 3)[1];
        if (path.startsWith("/doubt")) {
            socket.close();
            return;
        }
        byte[] body = (path.equals("/large")
                        ? "{\"note\": \"" + "x".repeat(LARGE) + "\"}"
                        : path.equals("/binary")
                                ? "\0\1\2\u00ff"
                                : "{\"exact\": 9007199254740993, \"note\": \"<img src=x onerror=alert(1)>\u202egnp\"}")
                .getBytes(path.equals("/binary") ? StandardCharsets.ISO_8859_1 : StandardCharsets.UTF_8);
        socket.getOutputStream()
                .write(("HTTP/1.1 201 Created\r\nContent-Type: text/html\r\nX-Note: <script>alert(1)</script>\r\n"
                                + "Location: javascript:alert(1)\r\nContent-Length: " + body.length + "\r\n\r\n")
                        .getBytes(StandardCharsets.ISO_8859_1));
        socket.getOutputStream().write(body);
        socket.getOutputStream().flush();
    }

    @BeforeAll
    static void find() {
        if (Chromium.find().isEmpty()) {
            String line = "NOT TESTED: the console in a browser. There is no Chromium on the PATH";
            System.err.println(line);
            abort(line);
        }
        browser = Chromium.start();
    }

    @AfterAll
    static void end() {
        if (browser != null) {
            browser.close();
        }
    }

    private void start(String store) {
        gateway = Running.start(folder, upstream.url(), "upstreams: [{url: " + upstream.url() + "}]\n" + store);
        tab = browser.open();
        tab.look(1440, 900, false);
    }

    @AfterEach
    void stop() {
        if (tab != null) {
            tab.close();
        }
        if (gateway != null) {
            gateway.close();
        }
        upstream.close();
    }

    private String console(String place) {
        return gateway.admin("/console/") + place;
    }

    private String credential(String file) throws Exception {
        return Files.readString(gateway.data().resolve(file)).strip();
    }

    /** By keyboard alone. */
    private void logIn(String name, String file) throws Exception {
        tab.await("document.querySelector('input[type=password]')");
        tab.fill("input[autocomplete=username]", name);
        tab.press("Tab");
        tab.type(credential(file));
        tab.press("Enter");
        tab.await("document.querySelector('nav')");
    }

    private void awaitHeading(String title) {
        tab.await("document.querySelector('h1')?.innerText === '" + title + "'");
    }

    private void quiet() {
        assertThat(tab.complaints()).isEmpty();
        assertThat(tab.look("document.scripts.length").asInt()).isEqualTo(1);
        assertThat(tab.look("document.querySelectorAll('#main img, iframe, object, embed, [onerror]').length")
                        .asInt())
                .isZero();
        assertThat(tab.requested())
                .allSatisfy(request -> assertThat(request.toString()).matches("about:.*|" + gateway.admin("/") + ".*"));
    }

    /** From the overview alone: find a payment that is in doubt, see its history, and settle it. */
    private void settle(String key) throws Exception {
        tab.go(console(""));
        logIn("anna", "admin-token");
        awaitHeading("Overview");
        tab.click("a.tile[href='#/doubt']");
        awaitHeading("In doubt");
        tab.click("text=" + key);
        tab.awaitText("Nobody knows whether this took effect");
        assertThat(tab.look("document.querySelector('.timeline').innerText").asText())
                .contains("processing", "unknown");
        tab.click("text=Add a note…");
        tab.fill("dialog textarea", "asked the <i>bank</i>");
        tab.click("text=Add this note");
        tab.await("!document.querySelector('dialog')"
                + " && document.querySelector('.timeline').innerText.includes('asked the <i>bank</i>')");
        tab.click("text=In doubt");
        awaitHeading("In doubt");
        tab.awaitText("asked the <i>bank</i>");
        tab.click("text=" + key);
        tab.awaitText("Nobody knows whether this took effect");
        tab.click("text=Resolve…");
        tab.click("text=It happened");
        tab.fill("dialog textarea", "ledger, ticket <b>4711</b>");
        tab.awaitText("409 “response_not_stored”");
        tab.click("text=Record that it happened");
        tab.await("!document.querySelector('dialog') &&"
                + " document.querySelector('.heading').innerText.includes('completed')");
        tab.await("document.querySelector('.timeline').innerText.includes('ledger, ticket <b>4711</b>')");
        assertThat(tab.look("document.querySelector('.timeline').innerText").asText())
                .contains("anna");
        assertThat(gateway.post("/doubt/1", key, "{}").body()).contains("response_not_stored");
        quiet();
    }

    @Test
    @DisplayName(
            "O2 shows nothing without a session, and lets an operator settle what is in doubt from the overview alone")
    void sqlite() throws Exception {
        start("");
        assertThat(gateway.post("/doubt/1", "order-1", "{}").statusCode()).isGreaterThanOrEqualTo(500);
        tab.go(console("#/keys"));
        tab.await("document.querySelector('input[type=password]')");
        assertThat(tab.text()).doesNotContain("order-1");
        tab.fill("input[autocomplete=username]", "mallory");
        tab.fill("input[type=password]", "wrong");
        tab.press("Enter");
        tab.awaitText("This credential is not valid here");
        assertThat(tab.inaccessible()).isEmpty();
        settle("order-1");

        tab.click("text=Evict…");
        tab.awaitText("will charge again");
        tab.press("Escape");
        tab.await("!document.querySelector('dialog') && document.activeElement.innerText === 'Evict…'");
        tab.press("Enter");
        tab.fill("dialog textarea", "test");
        tab.click("text=Forget this key");
        tab.awaitText("There is no such key");
        tab.click("text=Log out");
        tab.await("document.querySelector('input[type=password]')");
        quiet();
    }

    @Test
    @DisplayName("settles what is in doubt on PostgreSQL, and shows every view")
    void postgres() throws Exception {
        start("store: {url: \"" + PostgresServer.shared().createDatabase() + "\"}\n");
        gateway.post("/doubt/1", "order-1", "{}");
        settle("order-1");
        walk();
    }

    @Test
    @DisplayName("settles what is in doubt on Redis, and shows every view")
    void redis() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            start("store: {url: \"" + server.url() + "\"}\n");
            gateway.post("/doubt/1", "order-1", "{}");
            settle("order-1");
            walk();
            tab.close();
            tab = null;
            gateway.close();
            gateway = null;
        }
    }

    @Test
    @DisplayName("settles many keys at once, and a reader none")
    void many() throws Exception {
        start("");
        for (int i = 0; i < MANY; i++) {
            gateway.post("/doubt/" + i, "order-" + i, "{}");
        }
        tab.go(console("#/doubt"));
        logIn("rita", "admin-read-token");
        awaitHeading("In doubt");
        tab.await("document.querySelectorAll('tbody tr').length === " + MANY);
        assertThat(tab.look("[...document.querySelectorAll('main button')].filter(b =>"
                                + " b.innerText.startsWith('Resolve') && !b.disabled).length")
                        .asInt())
                .isZero();
        tab.click("text=Log out");
        logIn("anna", "admin-token");
        tab.click("text=Resolve all of them…");
        tab.awaitText("Resolve " + MANY + " keys");
        tab.click("text=It did not happen");
        tab.awaitText("takes effect twice");
        tab.fill("dialog textarea", "the provider has none of them");
        tab.click("text=Record for " + MANY);
        tab.awaitText(MANY + " of " + MANY + ": " + MANY + " settled, 0 not.");
        tab.click("text=Close");
        tab.awaitText("Nothing is in doubt");
        quiet();
    }

    @Test
    @DisplayName(
            "O2 shows hostile keys, headers and bodies as text, and keeps the rules of accessibility in every view")
    void hostile() throws Exception {
        start("");
        for (String key : HOSTILE) {
            assertThat(gateway.post("/payments", key, "{}").statusCode())
                    .as(key)
                    .isEqualTo(201);
        }
        gateway.post("/large", "large", "{}");
        gateway.post("/binary", "binary", "{}");
        gateway.post("/doubt/1", "order-1", "{}");
        tab.go(console("#/keys"));
        logIn("anna", "admin-token");
        for (String key : HOSTILE) {
            tab.awaitText(key);
            tab.click("text=" + key);
            tab.await("document.querySelector('.key-title')?.innerText.includes(" + quoted(key) + ")");
            tab.awaitText("9007199254740993");
            tab.awaitText("<img src=x onerror=alert(1)>U+202Egnp");
            tab.awaitText("<script>alert(1)</script>");
            quiet();
            look("key", List.of(true));
            tab.click("text=Keys");
            awaitHeading("Keys");
        }
        tab.click("text=large");
        tab.click("text=Show all of it");
        tab.await("document.querySelector('pre.body').innerText.length > " + LARGE + "");
        tab.click("text=Keys");
        tab.click("text=binary");
        tab.awaitText("00000000  00 01 02 ff");
        for (String view : List.of("overview", "keys", "doubt", "letters", "operations", "tenants", "nowhere")) {
            tab.go(console("#/" + view));
            tab.await("document.querySelector('h1') && !document.querySelector('.skeleton')");
            look(view, List.of(false, true));
        }
        tab.look(3840, 2160, true);
        tab.go(console("#/overview"));
        tab.await("document.querySelector('.tiles') && !document.querySelector('.skeleton')");
        assertThat(tab.look("parseFloat(getComputedStyle(document.body).fontSize)")
                        .asDouble())
                .as("legible at 4K")
                .isGreaterThan(18);
        tab.picture(PICTURES.resolve("overview-4k-dark.png"));
        quiet();
    }

    /** Every view, as one looks around. */
    private void walk() {
        for (String view : List.of("Overview", "Keys", "In doubt", "Dead letters", "Operations", "Tenants")) {
            tab.click("text=" + view);
            awaitHeading(view);
            tab.await("!document.querySelector('.skeleton')");
            assertThat(tab.look("document.querySelector('main .error')?.innerText ?? ''")
                            .asText())
                    .as(view)
                    .isEmpty();
        }
        quiet();
    }

    private static String quoted(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }

    /** Checks the view wide and light, or narrow and dark, and keeps pictures. */
    private void look(String view, List<Boolean> narrow) {
        for (boolean phone : narrow) {
            tab.look(phone ? 360 : 1440, phone ? 740 : 900, phone);
            assertThat(tab.inaccessible()).as(view).isEmpty();
            assertThat(tab.look("document.documentElement.scrollWidth - innerWidth")
                            .asInt())
                    .as(view + " is not wider than the window")
                    .isLessThanOrEqualTo(0);
            tab.picture(PICTURES.resolve(view + (phone ? "-narrow-dark" : "") + ".png"));
        }
        tab.look(1440, 900, false);
    }
}
