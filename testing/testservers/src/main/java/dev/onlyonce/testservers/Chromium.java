package dev.onlyonce.testservers;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The Chromium of the machine, without a window, if there is one. It is driven over its own protocol: Playwright for Java would
 * bring 200 MB of drivers for other machines to every build.
 */
public final class Chromium implements AutoCloseable {
    private static final List<String> NAMES =
            List.of("chromium", "chromium-browser", "google-chrome-stable", "google-chrome");

    private final Path home;
    private final ServerProcess process;
    private final DevTools tools;

    private Chromium(Path home, ServerProcess process, DevTools tools) {
        this.home = home;
        this.process = process;
        this.tools = tools;
    }

    /** The browser on the PATH, if there is one. */
    public static Optional<Path> find() {
        String[] folders = System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1);
        return NAMES.stream()
                .flatMap(name -> Stream.of(folders).map(folder -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** Starts it with a new profile. */
    public static Chromium start() {
        Path program = find().orElseThrow(() -> new IllegalStateException("there is no Chromium on the PATH"));
        Path home = Folders.temporary("onlyonce-chromium");
        // It writes there where it listens.
        Path port = home.resolve("DevToolsActivePort");
        ServerProcess process = new ServerProcess(
                "Chromium",
                List.of(
                        program.toString(),
                        "--headless=new",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--disable-dev-shm-usage",
                        "--disable-quic",
                        "--disable-sync",
                        "--disable-background-networking",
                        "--disable-component-update",
                        "--no-first-run",
                        "--hide-scrollbars",
                        "--remote-debugging-port=0",
                        "--user-data-dir=" + home,
                        "about:blank"),
                home.resolve("browser.log"),
                "KILL",
                home);
        try {
            process.start(() -> Files.isRegularFile(port) && lines(port).size() == 2, Duration.ZERO);
            List<String> where = lines(port);
            return new Chromium(
                    home, process, new DevTools(URI.create("ws://127.0.0.1:" + where.get(0) + where.get(1))));
        } catch (RuntimeException e) {
            process.signal("KILL");
            Folders.delete(home);
            throw e;
        }
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A new tab, with cookies of its own. */
    public BrowserTab open() {
        String context = tools.call(null, "Target.createBrowserContext")
                .get("browserContextId")
                .asText();
        String target = tools.call(null, "Target.createTarget", "url", "about:blank", "browserContextId", context)
                .get("targetId")
                .asText();
        String session = tools.call(null, "Target.attachToTarget", "targetId", target, "flatten", true)
                .get("sessionId")
                .asText();
        return new BrowserTab(tools, session, target);
    }

    @Override
    public void close() {
        tools.close();
        process.signal("TERM");
        Folders.delete(home);
    }
}
