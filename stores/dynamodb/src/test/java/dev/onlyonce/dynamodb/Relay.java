package dev.onlyonce.dynamodb;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** Stands between a store and DynamoDB Local: counts the requests, and answers some of them otherwise. */
final class Relay implements AutoCloseable {
    private final URI target;
    private final ServerSocket server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpClient client = HttpClient.newHttpClient();
    private final List<String> seen = new CopyOnWriteArrayList<>();
    private final Map<String, HttpResponse<byte[]>> answered = new ConcurrentHashMap<>();
    private volatile UnaryOperator<Step> script = step -> step;

    /**
     * What to do with a request.
     *
     * @param operation e.g. PutItem
     * @param deliver whether it reaches the server
     * @param error the code of an error to answer instead, or its whole text in braces; empty for the server's answer; "cut" to hang up;
     *     "page" for a proxy's error page; "stale" for what the server answered to the same question before
     * @param date the answer's Date; empty for the server's
     */
    record Step(String operation, boolean deliver, String error, String date) {
        Step refused(String code) {
            return new Step(operation, false, code, date);
        }

        Step lost() {
            return new Step(operation, true, "cut", date);
        }

        /** A transaction that was cancelled, with the reason of each of its writes. */
        Step cancelled(String... reasons) {
            return refused(Arrays.stream(reasons)
                    .map(reason -> "{\"Code\":\"" + reason + "\"}")
                    .collect(Collectors.joining(
                            ",",
                            "{\"__type\":\"com.amazonaws.dynamodb.v20120810#TransactionCanceledException\","
                                    + "\"Message\":\"as scripted\",\"CancellationReasons\":[",
                            "]}")));
        }

        Step page() {
            return refused("page");
        }

        Step stale() {
            return new Step(operation, true, "stale", date);
        }

        Step dated(String other) {
            return new Step(operation, deliver, error, other);
        }
    }

    Relay(String target) {
        this.target = URI.create(target);
        try {
            server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        threads.execute(this::accept);
    }

    String endpoint() {
        return "http://127.0.0.1:" + server.getLocalPort();
    }

    /** The operations that were asked for since the last time. */
    List<String> seen() {
        List<String> all = List.copyOf(seen);
        seen.clear();
        return all;
    }

    /** Every request from now on is treated so. */
    void script(UnaryOperator<Step> script) {
        this.script = script;
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                threads.execute(() -> relay(socket));
            } catch (IOException e) {
                // Closed, or the client was faster: the next one tells.
            }
        }
    }

    private void relay(Socket client) {
        try (Socket socket = client;
                InputStream in = new BufferedInputStream(socket.getInputStream());
                OutputStream out = socket.getOutputStream()) {
            while (!line(in).isEmpty()) {
                Map<String, String> headers = headers(in);
                byte[] body = in.readNBytes(Integer.parseInt(headers.getOrDefault("content-length", "0")));
                String operation = headers.getOrDefault("x-amz-target", "").replaceFirst(".*\\.", "");
                seen.add(operation);
                Step step = script.apply(new Step(operation, true, "", ""));
                HttpResponse<byte[]> answer = !step.deliver ? null : fresh(step, headers, body);
                if (step.error.equals("cut")) {
                    return;
                }
                out.write(answer(step, answer));
                out.flush();
            }
        } catch (IOException e) {
            // The client hung up.
        }
    }

    private HttpResponse<byte[]> fresh(Step step, Map<String, String> headers, byte[] body) throws IOException {
        HttpResponse<byte[]> before = answered.get(new String(body, StandardCharsets.UTF_8));
        if (step.error.equals("stale") && before != null) {
            return before;
        }
        HttpResponse<byte[]> answer = deliver(headers, body);
        answered.put(new String(body, StandardCharsets.UTF_8), answer);
        return answer;
    }

    private static byte[] answer(Step step, HttpResponse<byte[]> answer) {
        String error = step.error.startsWith("{")
                ? step.error
                : "{\"__type\":\"com.amazonaws.dynamodb.v20120810#" + step.error + "\",\"message\":\"as scripted\"}";
        byte[] content = answer == null ? error.getBytes(StandardCharsets.UTF_8) : answer.body();
        boolean page = step.error.equals("page");
        String date = step.date.isEmpty() && answer != null
                ? answer.headers().firstValue("Date").orElse("")
                : step.date;
        byte[] head = ("HTTP/1.1 " + (page ? 503 : answer == null ? 400 : answer.statusCode()) + " OK\r\n"
                        + (page ? "" : "x-amzn-RequestId: 1\r\n")
                        + (date.isEmpty() ? "" : "Date: " + date + "\r\n")
                        + "Content-Type: application/x-amz-json-1.0\r\nContent-Length: " + content.length + "\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII);
        byte[] all = Arrays.copyOf(head, head.length + content.length);
        System.arraycopy(content, 0, all, head.length, content.length);
        return all;
    }

    private static Map<String, String> headers(InputStream in) throws IOException {
        Map<String, String> headers = new TreeMap<>();
        for (String line = line(in); !line.isEmpty(); line = line(in)) {
            String[] parts = line.split(": *", 2);
            headers.put(parts[0].toLowerCase(Locale.ROOT), parts[1]);
        }
        return headers;
    }

    /** The next line without its end; empty at the end of the connection. */
    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = in.read(); next >= 0 && next != '\n'; next = in.read()) {
            if (next != '\r') {
                line.append((char) next);
            }
        }
        return line.toString();
    }

    private HttpResponse<byte[]> deliver(Map<String, String> headers, byte[] body) throws IOException {
        HttpRequest.Builder request = HttpRequest.newBuilder(target).POST(HttpRequest.BodyPublishers.ofByteArray(body));
        headers.forEach((name, value) -> {
            if (name.matches("x-amz-.*|authorization|content-type")) {
                request.header(name, value);
            }
        });
        try {
            return client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        threads.shutdownNow();
    }
}
