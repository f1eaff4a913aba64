package dev.onlyonce.testservers;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * A tab, used as a person would: it clicks where elements are and presses keys; scripts only look. What the page complains about
 * is kept: errors, violations of its Content-Security-Policy, dialogs.
 */
public final class BrowserTab implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final String AXE = "/META-INF/resources/webjars/axe-core/4.6.3/axe.min.js";
    private static final Map<String, Integer> KEYS =
            Map.of("Tab", 9, "Enter", 13, "Escape", 27, "Space", 32, "ArrowDown", 40, "ArrowUp", 38);

    private final DevTools tools;
    private final String session;
    private final String target;
    private final List<String> complaints = new CopyOnWriteArrayList<>();
    private final List<URI> requested = new CopyOnWriteArrayList<>();

    BrowserTab(DevTools tools, String session, String target) {
        this.tools = tools;
        this.session = session;
        this.target = target;
        tools.listen(session, this::heard);
        for (String domain : List.of("Page", "Runtime", "Log", "Network")) {
            call(domain + ".enable");
        }
    }

    private void heard(String event, JsonNode parameters) {
        switch (event) {
            case "Runtime.exceptionThrown" ->
                complaints.add(
                        "exception: " + parameters.path("exceptionDetails").toString());
            case "Runtime.consoleAPICalled" -> {
                if (List.of("error", "assert", "warning")
                        .contains(parameters.path("type").asText())) {
                    complaints.add("console: " + parameters.path("args"));
                }
            }
            case "Log.entryAdded" -> {
                JsonNode entry = parameters.path("entry");
                // An answer that is an error is the page's business, and a test's; it is not a fault of the page.
                if (entry.path("level").asText().equals("error")
                        && !entry.path("source").asText().equals("network")) {
                    complaints.add("log: " + entry.path("text").asText());
                }
            }
            case "Page.javascriptDialogOpening" -> {
                complaints.add("dialog: " + parameters.path("message").asText());
                new Thread(() -> call("Page.handleJavaScriptDialog", "accept", false)).start();
            }
            case "Network.requestWillBeSent" ->
                requested.add(URI.create(
                        parameters.path("request").path("url").asText().replaceAll("[?#].*", "")));
            default -> {
                // Nothing that a test asks for.
            }
        }
    }

    private JsonNode call(String method, Object... parameters) {
        return tools.call(session, method, parameters);
    }

    /** What the page has complained about since the last time. */
    public List<String> complaints() {
        List<String> all = new ArrayList<>(complaints);
        complaints.removeAll(all);
        return all;
    }

    /** What was requested so far, without queries. */
    public List<URI> requested() {
        return List.copyOf(requested);
    }

    /** Sets the size and the colours. */
    public void look(int width, int height, boolean dark) {
        call(
                "Emulation.setDeviceMetricsOverride",
                "width",
                width,
                "height",
                height,
                "deviceScaleFactor",
                1,
                "mobile",
                false);
        call(
                "Emulation.setEmulatedMedia",
                "features",
                List.of(Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light")));
    }

    /** Opens an address, as one does that types it. */
    public void go(String url) {
        // Only the fragment may differ from where it is; that alone would not load anything.
        call("Page.navigate", "url", "about:blank");
        call("Page.navigate", "url", url);
    }

    /** Evaluates an expression, or a promise, and returns its value. */
    public JsonNode look(String expression) {
        JsonNode answer =
                call("Runtime.evaluate", "expression", expression, "awaitPromise", true, "returnByValue", true);
        if (answer.has("exceptionDetails")) {
            throw new DevTools.Failed(answer.get("exceptionDetails").toString(), null);
        }
        return answer.path("result").path("value");
    }

    /** Waits until an expression is true. */
    public void await(String expression) {
        long millis = PATIENCE.toMillis();
        String polling = "new Promise(done => { const end = Date.now() + " + millis + "; const ask = () => {"
                + " let is = false; try { is = !!(" + expression + "); } catch {}"
                + " if (is || Date.now() > end) done(is); else setTimeout(ask, 30); }; ask(); })";
        for (int tries = 0; tries < 5; tries++) {
            try {
                if (look(polling).asBoolean()) {
                    return;
                }
                break;
            } catch (DevTools.Failed gone) {
                // The page was left while this waited; the next one is asked.
            }
        }
        throw new AssertionError("not within " + PATIENCE + ": " + expression + "\nThe page says:\n" + text());
    }

    /** Waits until the page shows this text. */
    public void awaitText(String text) {
        await("document.body.innerText.includes(" + quoted(text) + ")");
    }

    /** All that the page says. */
    public String text() {
        return look("document.body.innerText").asText();
    }

    /** Clicks on the middle of the first element that fits, once it is enabled and nothing stands before it. */
    public void click(String selector) {
        await("(() => { const e = " + element(selector) + "; if (!e || e.disabled) return false;"
                + " e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
                + " const hit = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);"
                + " return hit && (e.contains(hit) || hit.contains(e)); })()");
        JsonNode at = look("(() => { const r = " + element(selector) + ".getBoundingClientRect();"
                + " return {x: r.x + r.width / 2, y: r.y + r.height / 2}; })()");
        for (String type : List.of("mousePressed", "mouseReleased")) {
            call(
                    "Input.dispatchMouseEvent",
                    "type",
                    type,
                    "x",
                    at.get("x").asDouble(),
                    "y",
                    at.get("y").asDouble(),
                    "button",
                    "left",
                    "clickCount",
                    1);
        }
    }

    /** A selector, or {@code text=…} for the first link, button or label with this text. */
    private static String element(String selector) {
        return selector.startsWith("text=")
                ? "[...(document.querySelector('dialog[open]') ?? document).querySelectorAll('a, button, label, summary')]"
                        + ".find(e => e.innerText.trim().startsWith(" + quoted(selector.substring(5)) + "))"
                : "document.querySelector(" + quoted(selector) + ")";
    }

    /** Types into what has the focus. */
    public void type(String text) {
        call("Input.insertText", "text", text);
    }

    /** Clicks on a field and replaces what is in it. */
    public void fill(String selector, String text) {
        click(selector);
        look(element(selector) + ".select?.()");
        type(text);
    }

    /** Presses a key, such as {@code Tab}. */
    public void press(String key) {
        @Nullable Integer code = KEYS.get(key);
        if (code == null) {
            throw new IllegalArgumentException("no key " + key);
        }
        String text = key.equals("Enter") ? "\r" : key.equals("Space") ? " " : "";
        String name = key.equals("Space") ? " " : key;
        call(
                "Input.dispatchKeyEvent",
                "type",
                text.isEmpty() ? "rawKeyDown" : "keyDown",
                "key",
                name,
                "code",
                key,
                "windowsVirtualKeyCode",
                code,
                "text",
                text);
        call("Input.dispatchKeyEvent", "type", "keyUp", "key", name, "code", key, "windowsVirtualKeyCode", code);
    }

    /** What the rules of axe-core find wrong, one line each. */
    public List<String> inaccessible() {
        try (InputStream script = BrowserTab.class.getResourceAsStream(AXE)) {
            if (script == null) {
                throw new IllegalStateException("axe-core is not on the class path");
            }
            look("typeof axe === 'object' || (() => {" + new String(script.readAllBytes(), StandardCharsets.UTF_8)
                    + "})()");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        List<String> found = new ArrayList<>();
        look("axe.run().then(r => { if (r.passes.length < 10) throw new Error('axe saw no page');"
                        + " return r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.html.slice(0, 200)).join(' | ')); })")
                .forEach(line -> found.add(line.asText()));
        return found;
    }

    /** Keeps what it looks like. */
    public void picture(Path file) {
        try {
            Files.createDirectories(file.getParent());
            Files.write(
                    file,
                    Base64.getDecoder()
                            .decode(call("Page.captureScreenshot", "format", "png")
                                    .get("data")
                                    .asText()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String quoted(String text) {
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + "\"";
    }

    @Override
    public void close() {
        tools.call(null, "Target.closeTarget", "targetId", target);
    }
}
