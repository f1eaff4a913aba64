package dev.onlyonce.payments.provider;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.onlyonce.payments.faults.Chances;
import dev.onlyonce.payments.faults.FaultyNetwork;
import dev.onlyonce.payments.faults.NetworkFault;
import dev.onlyonce.store.Time;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/**
 * A simulated payment provider: a server with its own ledger and configurable faults.
 *
 * <pre>
 * POST /charges                      {"amount", "currency", "reference", "source"}; 201 or 402, the same for the same Idempotency-Key
 * POST /refunds                      {"charge_id", "amount", "reference"}; 201 or 402
 * GET  /charges/{id}, /refunds/{id}  one movement
 * GET  /charges?idempotency_key=K    what was made under a key; also /refunds
 * GET  /ledger?from=&amp;to=&amp;after=      movements of a period, in order, a page at a time
 * GET  /faults, PUT /faults          the fault switches
 * GET  /stats                        what happened so far
 * GET  /health
 * </pre>
 */
public final class Provider implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Provider.class);
    private static final int BACKLOG = 1_000;
    private static final int BODY_BYTES_MAX = 64 << 10;
    private static final TypeReference<Map<String, Double>> NUMBERS = new TypeReference<>() {};

    private final JsonMapper json = JsonMapper.builder().build();
    private final Time time = Time.system();
    private final ExecutorService threads = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "provider");
        thread.setDaemon(true);
        return thread;
    });
    private final HttpServer server;
    private final FaultyNetwork network;
    private final Ledger ledger;
    private final Webhooks webhooks;
    private final Charging charging;

    /** An answer that is not 2xx, decided deep inside. */
    static final class Refused extends Exception {
        private static final long serialVersionUID = 1;
        private final int status;

        Refused(int status, String message) {
            super(message);
            this.status = status;
        }
    }

    private Provider(ProviderOptions options) throws IOException, SQLException {
        // Without it, each small answer waits for the acknowledgement of the one before.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        Files.createDirectories(options.data());
        ledger = Ledger.open(options.data().resolve("provider.db"));
        webhooks = new Webhooks(
                options.webhooks().url(), Webhooks.scheme(options.webhooks().secret()), time, json);
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), BACKLOG);
        network = FaultyNetwork.open(options.port(), server.getAddress(), Chances.none(NetworkFault.class));
        charging = new Charging(ledger, webhooks, time, options);
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    /** Starts it; throws {@link IllegalStateException} if it cannot. */
    public static Provider start(ProviderOptions options) {
        try {
            return new Provider(options);
        } catch (IOException | UncheckedIOException | SQLException e) {
            throw new IllegalStateException("The provider does not start: " + e.getMessage(), e);
        }
    }

    /** Where it listens. */
    public URI url() {
        return URI.create("http://127.0.0.1:" + network.port());
    }

    /** Sets the fault switches. */
    public void faults(Faults faults) {
        charging.faults(faults);
    }

    /** Ends all connections; the ledger stays. */
    @Override
    public void close() {
        network.close();
        server.stop(0);
        threads.shutdownNow();
        webhooks.close();
        try {
            ledger.close();
        } catch (SQLException e) {
            log.warn("The ledger was not closed", e);
        }
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            try {
                Answer answer = route(exchange);
                switch (answer.fate()) {
                    case SENT -> send(exchange, answer.status(), answer.body());
                    case RESET -> network.reset(exchange.getRemoteAddress().getPort());
                    case DROPPED -> {
                        // Closing the exchange closes the connection.
                    }
                }
            } catch (Refused e) {
                send(exchange, e.status, Map.of("error", String.valueOf(e.getMessage())));
            } catch (JacksonException | IllegalArgumentException e) {
                send(exchange, 400, Map.of("error", String.valueOf(e.getMessage())));
            } catch (SQLException | InterruptedException | RuntimeException e) {
                log.error("{} {}", exchange.getRequestMethod(), exchange.getRequestURI(), e);
                send(exchange, 500, Map.of("error", "internal error"));
            }
        }
    }

    private Answer route(HttpExchange exchange) throws IOException, SQLException, Refused, InterruptedException {
        String path = exchange.getRequestURI().getPath();
        Query query = Query.of(exchange.getRequestURI().getRawQuery());
        switch (exchange.getRequestMethod() + " " + path) {
            case "POST /charges", "POST /refunds" -> {
                String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
                Order order = json.readValue(body(exchange), Order.class);
                return charging.make(path.equals("/charges") ? "charge" : "refund", key, order);
            }
            case "GET /charges", "GET /refunds" -> {
                String kind = path.substring(1, path.length() - 1);
                return charging.lookUp(kind, query.required("idempotency_key"));
            }
            case "GET /ledger" -> {
                return Answer.ok(page(query));
            }
            case "GET /faults" -> {
                return Answer.ok(charging.faults().settings());
            }
            case "PUT /faults" -> {
                faults(Faults.of(json.readValue(body(exchange), NUMBERS)));
                return Answer.ok(charging.faults().settings());
            }
            case "GET /stats" -> {
                return Answer.ok(Map.of("calls", charging.counts(), "webhooks", webhooks.counts()));
            }
            case "GET /health" -> {
                return Answer.ok(Map.of("status", "UP"));
            }
            default -> {
                if (exchange.getRequestMethod().equals("GET") && path.matches("/(charges|refunds)/[^/]+")) {
                    String id = path.substring(path.lastIndexOf('/') + 1);
                    return Answer.ok(ledger.find(id).orElseThrow(() -> new Refused(404, "there is no " + id)));
                }
                throw new Refused(404, "there is no " + exchange.getRequestMethod() + " " + path);
            }
        }
    }

    private Map<String, Object> page(Query query) throws SQLException {
        int limit = Math.min(1_000, Integer.parseInt(query.get("limit", "1000")));
        List<Movement> movements = ledger.period(
                Long.parseLong(query.get("from", "0")),
                Long.parseLong(query.get("to", String.valueOf(Long.MAX_VALUE))),
                query.get("after", ""),
                limit);
        Map<String, Object> page = new LinkedHashMap<>();
        page.put("data", movements);
        page.put("more", movements.size() == limit);
        return page;
    }

    private static byte[] body(HttpExchange exchange) throws IOException, Refused {
        byte[] body = exchange.getRequestBody().readNBytes(BODY_BYTES_MAX + 1);
        if (body.length > BODY_BYTES_MAX) {
            throw new Refused(413, "the body is larger than " + BODY_BYTES_MAX + " bytes");
        }
        return body;
    }

    private void send(HttpExchange exchange, int status, Object body) throws IOException {
        byte[] bytes = json.writeValueAsBytes(body);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
    }
}
