package dev.onlyonce.http.admin;

import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.zip.GZIPOutputStream;

/** The files of the console, from the class path, compressed once. */
final class ConsoleFiles {
    private static final String FOLDER = "/META-INF/onlyonce/console/";
    private static final Map<String, String> TYPES = Map.of(
            "index.html", "text/html; charset=utf-8",
            "app.js", "text/javascript; charset=utf-8",
            "app.css", "text/css; charset=utf-8",
            "icon.svg", "image/svg+xml");

    private final Map<String, StoredFile> files = new HashMap<>();

    private record StoredFile(String type, byte[] plain, byte[] gzip) {}

    ConsoleFiles() {
        TYPES.forEach((name, type) -> {
            try (InputStream in = ConsoleFiles.class.getResourceAsStream(FOLDER + name)) {
                if (in != null) {
                    byte[] plain = in.readAllBytes();
                    files.put(name, new StoredFile(type, plain, compressed(plain)));
                }
            } catch (IOException e) {
                throw new UncheckedIOException("the console's " + name + " cannot be read", e);
            }
        });
    }

    private static byte[] compressed(byte[] plain) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
            gzip.write(plain);
        }
        return bytes.toByteArray();
    }

    /** The answer to a request for a path within the mount; empty if there is no such file. */
    Optional<HttpAnswer> answer(AdminRequest request) {
        String name = request.path().equals("/") ? "index.html" : request.path().substring(1);
        StoredFile file = files.get(name);
        if (file == null || !(request.method().equals("GET") || request.method().equals("HEAD"))) {
            return Optional.empty();
        }
        boolean gzip = request.headers().values("Accept-Encoding").stream().anyMatch(line -> line.contains("gzip"));
        Headers headers =
                Headers.of("Content-Type", file.type(), "Cache-Control", "no-cache", "Vary", "Accept-Encoding");
        HttpAnswer answer = new HttpAnswer(
                200, gzip ? headers.plus("Content-Encoding", "gzip") : headers, gzip ? file.gzip() : file.plain());
        return Optional.of(Replies.tagged(request, answer));
    }
}
