package dev.onlyonce.servlet;

import static java.util.Objects.requireNonNull;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URLDecoder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A request whose body was read and can be read again: as a stream, as text, or as form parameters. */
final class BufferedRequest extends HttpServletRequestWrapper {
    private final Optional<byte[]> body;
    private @Nullable Map<String, String[]> parameters;
    private @Nullable ServletInputStream stream;
    private @Nullable BufferedReader reader;
    private @Nullable CapturedResponse response;
    private @Nullable AsyncContext async;
    private UnaryOperator<AsyncContext> onAsync = UnaryOperator.identity();

    /** With the body's bytes, unless the container hands them out. */
    BufferedRequest(HttpServletRequest request, Optional<byte[]> body) {
        super(request);
        this.body = body;
    }

    /** Lets asynchronous work go on with the captured response. */
    void capturedBy(CapturedResponse captured, UnaryOperator<AsyncContext> async) {
        response = captured;
        onAsync = async;
    }

    @Override
    public ServletInputStream getInputStream() throws IOException {
        if (body.isEmpty()) {
            return super.getInputStream();
        }
        if (reader != null) {
            throw new IllegalStateException("the body is being read as text");
        }
        if (stream == null) {
            stream = new BodyStream(body.get());
        }
        return stream;
    }

    @Override
    public BufferedReader getReader() throws IOException {
        if (body.isEmpty()) {
            return super.getReader();
        }
        if (stream != null) {
            throw new IllegalStateException("the body is being read as bytes");
        }
        if (reader == null) {
            String encoding = getCharacterEncoding();
            Charset charset = encoding == null ? StandardCharsets.ISO_8859_1 : Charset.forName(encoding);
            reader = new BufferedReader(new InputStreamReader(new ByteArrayInputStream(body.get()), charset));
        }
        return reader;
    }

    @Override
    public @Nullable String getParameter(String name) {
        String[] values = getParameterMap().get(name);
        return values == null ? null : values[0];
    }

    @Override
    public Enumeration<String> getParameterNames() {
        return Collections.enumeration(getParameterMap().keySet());
    }

    @Override
    public String @Nullable [] getParameterValues(String name) {
        String[] values = getParameterMap().get(name);
        return values == null ? null : values.clone();
    }

    @Override
    public Map<String, String[]> getParameterMap() {
        if (body.isEmpty() || body.get().length == 0 || !RequestBody.isForm(getContentType())) {
            return super.getParameterMap();
        }
        if (parameters == null) {
            parameters = parameters(body.get());
        }
        return parameters;
    }

    /** Those of the query first, then those of the body. */
    private Map<String, String[]> parameters(byte[] form) {
        Map<String, List<String>> lists = new LinkedHashMap<>();
        String encoding = getCharacterEncoding();
        Charset charset = encoding == null ? StandardCharsets.UTF_8 : Charset.forName(encoding);
        addAll(lists, getQueryString(), StandardCharsets.UTF_8);
        addAll(lists, new String(form, StandardCharsets.ISO_8859_1), charset);
        Map<String, String[]> map = new LinkedHashMap<>();
        lists.forEach((name, values) -> map.put(name, values.toArray(String[]::new)));
        return Collections.unmodifiableMap(map);
    }

    private static void addAll(Map<String, List<String>> lists, @Nullable String form, Charset charset) {
        if (form == null || form.isEmpty()) {
            return;
        }
        for (String pair : form.split("&")) {
            int equals = pair.indexOf('=');
            String name = equals < 0 ? pair : pair.substring(0, equals);
            String value = equals < 0 ? "" : pair.substring(equals + 1);
            if (!pair.isEmpty()) {
                lists.computeIfAbsent(URLDecoder.decode(name, charset), any -> new ArrayList<>())
                        .add(URLDecoder.decode(value, charset));
            }
        }
    }

    @Override
    public AsyncContext startAsync() {
        return startAsync(this, requireNonNull(response, "the response is captured before the handler runs"));
    }

    @Override
    public AsyncContext startAsync(ServletRequest request, ServletResponse response) {
        async = onAsync.apply(super.startAsync(request, response));
        return async;
    }

    @Override
    public AsyncContext getAsyncContext() {
        AsyncContext started = super.getAsyncContext();
        return async == null ? started : async;
    }

    /** Bytes that are all there. */
    private static final class BodyStream extends ServletInputStream {
        private final ByteArrayInputStream bytes;

        BodyStream(byte[] body) {
            bytes = new ByteArrayInputStream(body);
        }

        @Override
        public int read() {
            return bytes.read();
        }

        @Override
        public int read(byte[] into, int from, int length) {
            return bytes.read(into, from, length);
        }

        @Override
        public int available() {
            return bytes.available();
        }

        @Override
        public boolean isFinished() {
            return bytes.available() == 0;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setReadListener(ReadListener listener) {
            try {
                listener.onDataAvailable();
                if (isFinished()) {
                    listener.onAllDataRead();
                }
            } catch (IOException e) {
                listener.onError(e);
            }
        }
    }
}
