package dev.onlyonce.webflux;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.codec.multipart.FilePart;
import org.springframework.http.codec.multipart.Part;
import org.springframework.http.server.reactive.ServerHttpRequest;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What is compared of a multipart body: clients make a new boundary for every try, which must not matter. */
final class MultipartBody {
    private MultipartBody() {}

    static boolean isIn(ServerHttpRequest request) {
        String type = request.getHeaders().getFirst(HttpHeaders.CONTENT_TYPE);
        return type != null && type.toLowerCase(Locale.ROOT).startsWith(MediaType.MULTIPART_FORM_DATA_VALUE);
    }

    /** Names, types and digests of the parts. */
    static Mono<byte[]> compared(CapturedExchange exchange) {
        return exchange.getMultipartData()
                .flatMapMany(parts -> Flux.fromIterable(parts.values()))
                .concatMap(Flux::fromIterable)
                .concatMap(MultipartBody::digest)
                .collectList()
                .map(MultipartBody::join)
                .doFinally(any -> exchange.cleanupMultipart().subscribe());
    }

    private static Mono<byte[]> digest(Part part) {
        MessageDigest digest = sha256();
        return part.content()
                .doOnNext(buffer -> digest.update(BufferedRequest.bytes(buffer)))
                .then(Mono.fromSupplier(() -> described(part, digest.digest())));
    }

    private static byte[] described(Part part, byte[] digest) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            write(out, part.name());
            write(out, part instanceof FilePart file ? file.filename() : null);
            write(out, part.headers().getFirst(HttpHeaders.CONTENT_TYPE));
            out.write(digest);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static void write(DataOutputStream out, @Nullable String text) throws IOException {
        byte[] bytes = text == null ? new byte[0] : text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(text == null ? -1 : bytes.length);
        out.write(bytes);
    }

    private static byte[] join(List<byte[]> parts) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        parts.forEach(bytes::writeBytes);
        return bytes.toByteArray();
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
