package dev.onlyonce.jaxrs;

import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.StreamingOutput;
import jakarta.ws.rs.ext.MessageBodyWriter;
import jakarta.ws.rs.ext.Providers;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.annotation.Annotation;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A response's entity as bytes: in memory up to a bound, beyond it in a temporary file. */
final class WrittenEntity extends OutputStream {
    private static final byte[] NONE = {};
    private static final Annotation[] NO_ANNOTATIONS = {};

    private final int bytesMax;
    private final ByteArrayOutputStream memory = new ByteArrayOutputStream();
    private @Nullable Path file;
    private @Nullable OutputStream overflow;
    private boolean sent;

    WrittenEntity(int bytesMax) {
        this.bytesMax = bytesMax;
    }

    /** Writes it as JAX-RS would. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    void write(ContainerResponseContext response, Providers providers) throws IOException {
        Object entity = response.getEntity();
        if (entity == null) {
            return;
        }
        Class<?> type = response.getEntityClass();
        Type generic = Objects.requireNonNullElse(response.getEntityType(), type);
        Annotation[] annotations = Objects.requireNonNullElse(response.getEntityAnnotations(), NO_ANNOTATIONS);
        MediaType media = Objects.requireNonNullElse(response.getMediaType(), MediaType.APPLICATION_OCTET_STREAM_TYPE);
        MessageBodyWriter writer = providers.getMessageBodyWriter(type, generic, annotations, media);
        if (writer == null) {
            throw new IOException("there is no writer of " + type.getName() + " as " + media);
        }
        writer.writeTo(entity, type, generic, annotations, media, response.getHeaders(), this);
        if (overflow != null) {
            overflow.close();
        }
        if (response.getHeaders().getFirst("Content-Type") == null) {
            response.getHeaders().putSingle("Content-Type", media);
        }
    }

    @Override
    public void write(int one) throws IOException {
        write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        if (overflow == null && memory.size() + (long) length > bytesMax) {
            file = Files.createTempFile("onlyonce", ".response");
            overflow = Files.newOutputStream(file);
            memory.writeTo(overflow);
        }
        if (overflow == null) {
            memory.write(bytes, offset, length);
        } else {
            overflow.write(bytes, offset, length);
        }
    }

    boolean isLarge() {
        return file != null;
    }

    byte[] bytes() {
        return memory.size() == 0 ? NONE : memory.toByteArray();
    }

    /** Makes it the entity of the response. */
    void sendWith(ContainerResponseContext response) {
        Path stored = file;
        if (stored != null) {
            sent = true;
            response.setEntity((StreamingOutput) out -> {
                try {
                    Files.copy(stored, out);
                } finally {
                    Files.deleteIfExists(stored);
                }
            });
        } else {
            response.setEntity(memory.size() == 0 ? null : bytes());
        }
    }

    /** Deletes the file, unless it is still to be sent. */
    @Override
    public void close() throws IOException {
        if (overflow != null) {
            overflow.close();
        }
        if (file != null && !sent) {
            Files.deleteIfExists(file);
        }
    }
}
