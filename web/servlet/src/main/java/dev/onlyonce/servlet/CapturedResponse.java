package dev.onlyonce.servlet;

import dev.onlyonce.http.Answers;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A response that is held back. Status and headers go to the real response, which is not committed; the body stays here
 * until somebody {@linkplain #send sends} it, or until it is larger than the bound and its {@link Owner} lets it go. What
 * filters outside have set before is not part of the capture, and survives when another answer is sent instead.
 */
final class CapturedResponse extends HttpServletResponseWrapper {
    private static final int NO_CONTENT = 204;
    private static final int NOT_MODIFIED = 304;

    private final HttpServletResponse real;
    private final int bytesMax;
    private final Owner owner;
    private final Headers before;
    private final ByteArrayOutputStream body = new ByteArrayOutputStream(512);
    private final Output output = new Output();
    private @Nullable PrintWriter writer;
    private @Nullable SentError error;
    private @Nullable Locale locale;
    private long declaredLength = -1;
    private Phase phase = Phase.HELD;
    /** Whether the handler has sent it, as far as it knows. */
    private boolean flushed;
    /** Whether the handler has asked for the stream. */
    private boolean streamed;

    private enum Phase {
        HELD,
        STREAMING,
        /** Something else was sent: what the handler still writes goes nowhere. */
        REPLACED
    }

    /** Decides what becomes of a response that is too large to hold. */
    interface Owner {
        /** Whether an exception has left the handler, and somebody answers for it now. */
        boolean hasFailed();

        void tooLarge() throws IOException;
    }

    /** What the handler asked the container to answer with. */
    record SentError(int status, @Nullable String message) {}

    CapturedResponse(HttpServletResponse real, int bytesMax, Owner owner) {
        super(real);
        this.real = real;
        this.bytesMax = bytesMax;
        this.owner = owner;
        this.before = headers(real);
    }

    /** What the handler has answered so far. */
    HttpAnswer answer() {
        flushWriter();
        return new HttpAnswer(real.getStatus(), ownHeaders(), body.toByteArray());
    }

    Headers ownHeaders() {
        Headers own = headers(real).only(field -> !before.fields().contains(field));
        if (real.getContentType() != null && !own.has("Content-Type")) {
            own = own.plus("Content-Type", real.getContentType());
        }
        return locale == null || own.has("Content-Language")
                ? own
                : own.plus("Content-Language", locale.toLanguageTag());
    }

    @Nullable
    SentError takeError() {
        SentError taken = error;
        error = null;
        return taken;
    }

    boolean isHeld() {
        return phase == Phase.HELD;
    }

    /** Sends the handler's own answer, with what the profile adds. */
    void send(HttpAnswer own) throws IOException {
        add(own);
        phase = Phase.STREAMING;
        write(real, own);
    }

    /** Lets the handler's answer stream from now on. */
    void stream(HttpAnswer head) throws IOException {
        add(head);
        if (declaredLength >= 0) {
            real.setContentLengthLong(declaredLength);
        }
        phase = Phase.STREAMING;
        body.writeTo(real.getOutputStream());
        body.reset();
    }

    private void add(HttpAnswer own) {
        for (String name : Answers.ADDED) {
            own.headers().first(name).ifPresent(value -> real.setHeader(name, value));
        }
    }

    /** Sends something else, whatever the handler has answered. */
    void replace(HttpAnswer answer) throws IOException {
        phase = Phase.REPLACED;
        clear();
        sendHead(real, answer);
        write(real, answer);
    }

    static void sendHead(HttpServletResponse response, HttpAnswer answer) {
        response.setStatus(answer.status());
        List<String> seen = new ArrayList<>();
        for (Headers.Field field : answer.headers().fields()) {
            String name = field.name().toLowerCase(Locale.ROOT);
            // What CORS handling outside has said about the origin stays.
            if (seen.contains(name) || name.equals("vary")) {
                response.addHeader(field.name(), field.value());
            } else {
                response.setHeader(field.name(), field.value());
                seen.add(name);
            }
        }
    }

    static void write(HttpServletResponse response, HttpAnswer answer) throws IOException {
        if (answer.status() != NO_CONTENT && answer.status() != NOT_MODIFIED) {
            response.setContentLength(answer.body().length);
            response.getOutputStream().write(answer.body());
        }
    }

    private void clear() {
        real.reset();
        for (Headers.Field field : before.fields()) {
            real.addHeader(field.name(), field.value());
        }
    }

    private static Headers headers(HttpServletResponse response) {
        List<Headers.Field> fields = new ArrayList<>();
        // Tomcat names a header once for each of its lines.
        for (String name : new LinkedHashSet<>(response.getHeaderNames())) {
            for (String value : response.getHeaders(name)) {
                fields.add(new Headers.Field(name, value));
            }
        }
        return new Headers(fields);
    }

    @Override
    public void sendError(int status, @Nullable String message) {
        checkNotFlushed();
        resetBuffer();
        real.setStatus(status);
        error = new SentError(status, message);
    }

    /** As in the containers: what was flushed is the answer, whatever the handler does afterwards. An exception is another matter. */
    private boolean isSent() {
        return flushed && !owner.hasFailed();
    }

    private void checkNotFlushed() {
        if (isSent()) {
            throw new IllegalStateException("the response was flushed, so its status cannot change any more");
        }
    }

    @Override
    public void sendError(int status) {
        sendError(status, null);
    }

    @Override
    public void sendRedirect(String location) {
        sendRedirect(location, SC_FOUND, true);
    }

    @Override
    public void sendRedirect(String location, int status, boolean clearBuffer) {
        checkNotFlushed();
        if (clearBuffer) {
            resetBuffer();
        }
        real.setStatus(status);
        real.setHeader("Location", location);
    }

    @Override
    public void setStatus(int status) {
        if (phase == Phase.HELD && error == null && !isSent()) {
            real.setStatus(status);
        }
    }

    @Override
    public void setHeader(String name, @Nullable String value) {
        if (phase != Phase.REPLACED && !isLength(name, value)) {
            real.setHeader(name, value);
        }
    }

    @Override
    public void addHeader(String name, @Nullable String value) {
        if (phase != Phase.REPLACED && !isLength(name, value)) {
            real.addHeader(name, value);
        }
    }

    @Override
    public void setIntHeader(String name, int value) {
        setHeader(name, Integer.toString(value));
    }

    @Override
    public void addIntHeader(String name, int value) {
        addHeader(name, Integer.toString(value));
    }

    /** The length is only known when all is written; the declared one is kept for streaming. */
    private boolean isLength(String name, @Nullable String value) {
        boolean isLength = name.equalsIgnoreCase("Content-Length");
        if (isLength && value != null) {
            declaredLength = Long.parseLong(value);
        }
        return isLength;
    }

    @Override
    public void setContentLength(int length) {
        declaredLength = length;
    }

    @Override
    public void setContentLengthLong(long length) {
        declaredLength = length;
    }

    @Override
    public void setLocale(@Nullable Locale locale) {
        this.locale = locale;
        super.setLocale(locale);
    }

    @Override
    public boolean isCommitted() {
        return phase != Phase.HELD;
    }

    @Override
    public void flushBuffer() throws IOException {
        flushWriter();
        flushed = true;
        if (phase == Phase.STREAMING) {
            real.flushBuffer();
        }
    }

    /** Forgets the body and how it was written, for another one that is to take its place. */
    void startOver() {
        resetBuffer();
        writer = null;
        streamed = false;
        flushed = false;
    }

    @Override
    public void resetBuffer() {
        if (phase != Phase.HELD) {
            throw new IllegalStateException("the response is being sent");
        }
        flushWriter();
        body.reset();
    }

    @Override
    public void reset() {
        startOver();
        error = null;
        declaredLength = -1;
        clear();
    }

    @Override
    public void setBufferSize(int size) {
        // The bound is the operation's.
    }

    @Override
    public ServletOutputStream getOutputStream() {
        streamed = true;
        return output;
    }

    @Override
    public PrintWriter getWriter() throws IOException {
        if (writer == null) {
            if (streamed) {
                // Tomcat asks for it after a forward, to close it; the character set would be wrong then.
                throw new IllegalStateException("the response is written as bytes");
            }
            // As the containers do: from now on the content type names the character set.
            String encoding = real.getCharacterEncoding();
            real.setCharacterEncoding(encoding);
            writer = new PrintWriter(new OutputStreamWriter(output, encoding));
        }
        return writer;
    }

    private void flushWriter() {
        if (writer != null) {
            boolean before = flushed;
            writer.flush();
            flushed = before;
        }
    }

    private final class Output extends ServletOutputStream {
        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            if (phase == Phase.HELD && body.size() + length > bytesMax) {
                owner.tooLarge();
            }
            switch (phase) {
                case HELD -> body.write(bytes, from, length);
                case STREAMING -> real.getOutputStream().write(bytes, from, length);
                case REPLACED -> {}
            }
        }

        @Override
        public void flush() throws IOException {
            flushed = true;
            if (phase == Phase.STREAMING) {
                real.getOutputStream().flush();
            }
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setWriteListener(WriteListener listener) {
            try {
                listener.onWritePossible();
            } catch (IOException e) {
                listener.onError(e);
            }
        }
    }
}
