package dev.onlyonce.server;

import dev.onlyonce.server.config.ConfigFile;
import dev.onlyonce.server.config.InvalidConfig;
import dev.onlyonce.server.config.Settings;
import dev.onlyonce.server.gateway.Gateway;
import dev.onlyonce.server.gateway.OpenStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A gateway in this JVM, made from a configuration file, on ports that the system chose. */
final class Running implements AutoCloseable {
    /** Whether all gateways use it. */
    static final boolean IO_URING = Boolean.getBoolean("io-uring");

    private final OpenStore store;
    private final Gateway gateway;
    private final Path data;
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private boolean drained;

    private Running(Settings settings) {
        data = settings.data();
        OpenStore.ownerOnly(data);
        store = OpenStore.open(settings);
        gateway = Gateway.start(settings, store.store());
    }

    /** In front of an upstream, with more settings in YAML; {@code {up}} stands for more of the upstream's. */
    static Running start(Path folder, URI upstream, String yaml) {
        String more = yaml.contains("upstreams:") ? "" : "upstreams: [{url: " + upstream + "}]\n";
        String ports = "admin: {port: 0}\n" + (yaml.contains("listen:") ? "" : listen(IO_URING));
        try {
            Path file = Files.writeString(folder.resolve("gateway.yaml"), ports + more + yaml);
            return new Running(ConfigFile.read(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InvalidConfig e) {
            throw new IllegalArgumentException(e);
        }
    }

    /** A port that the system chooses. */
    static String listen(boolean ioUring) {
        return "listen: {host: 127.0.0.1, port: 0, io-uring: " + ioUring + "}\n";
    }

    URI url(String path) {
        return URI.create("http://127.0.0.1:" + gateway.port() + path);
    }

    URI admin(String path) {
        return URI.create("http://127.0.0.1:" + gateway.adminPort() + path);
    }

    Path data() {
        return data;
    }

    Gateway gateway() {
        return gateway;
    }

    Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), gateway.port());
        socket.setSoTimeout(60_000);
        return socket;
    }

    HttpResponse<String> post(String path, String key, String body) throws IOException, InterruptedException {
        return send(request(path, key).POST(HttpRequest.BodyPublishers.ofString(body)));
    }

    /** Posts an empty object and does not wait for the answer. */
    CompletableFuture<HttpResponse<String>> begin(String path, String key) {
        return client.sendAsync(
                request(path, key)
                        .POST(HttpRequest.BodyPublishers.ofString("{}"))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    HttpRequest.Builder request(String path, String key) {
        return HttpRequest.newBuilder(url(path))
                .header("Idempotency-Key", key)
                .header("Content-Type", "application/json");
    }

    HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(url(path)));
    }

    HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return client.send(
                request.timeout(Duration.ofSeconds(60)).build(),
                HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
    }

    HttpClient client() {
        return client;
    }

    void drain() {
        drained = true;
        gateway.drain();
    }

    @Override
    public void close() {
        if (!drained) {
            gateway.drain();
        }
        store.close();
    }
}
