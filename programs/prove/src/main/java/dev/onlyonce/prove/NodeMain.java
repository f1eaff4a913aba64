package dev.onlyonce.prove;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.onlyonce.Outcome;
import dev.onlyonce.OutcomeException;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.concurrent.Executors;

/**
 * A node of the load, in a process of its own: HTTP in front of the library.
 *
 * <p>Arguments: its name, the URL of the store, the port of the ledger, the file for its port, and a planted fault or {@code none}.
 */
public final class NodeMain {
    static final String TENANT = "Tenant";
    static final String WAY = "Way";
    static final String KEY = "Idempotency-Key";
    static final String JUMP = "/clock";
    static final String MINUTES = "Minutes";
    static final String REPLAYED = "Idempotent-Replayed";

    private NodeMain() {}

    public static void main(String[] arguments) throws Exception {
        String name = arguments[0];
        StoreAccess access = StoreAccess.await(arguments[1]);
        Plant plant = Plant.of(arguments[4]);
        Store store = plant.in(access.store());
        JumpingTime time = new JumpingTime();
        Ways ways = new Ways(
                name, store, access, new LedgerClient(Integer.parseInt(arguments[2]), name, plant.isHealed()), time);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", exchange -> serve(exchange, ways));
        server.createContext(JUMP, exchange -> {
            time.set(Duration.ofMinutes(Long.parseLong(Ledger.header(exchange, MINUTES))));
            Ledger.answer(exchange, 200, "set");
        });
        server.start();
        Path file = Path.of(arguments[3]);
        Path made = Files.writeString(
                file.resolveSibling(file.getFileName() + ".new"),
                "" + server.getAddress().getPort());
        Files.move(made, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private static void serve(HttpExchange exchange, Ways ways) throws IOException {
        Answer answer;
        try {
            String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
            Work work = new Work(
                    Ledger.header(exchange, TENANT),
                    Work.Way.valueOf(Ledger.header(exchange, WAY)),
                    Ledger.header(exchange, KEY));
            answer = answer(ways.execute(work, body));
        } catch (OutcomeException e) {
            answer = answer(e.outcome());
        } catch (StoreOutcomeUnknown e) {
            answer = new Answer(503, "outcome_unknown " + e.getMessage());
        } catch (StoreException e) {
            answer = new Answer(503, "store " + e.getMessage());
        } catch (Exception e) {
            answer = new Answer(500, String.valueOf(e));
        }
        if (answer.replayed) {
            exchange.getResponseHeaders().set(REPLAYED, "true");
        }
        Ledger.answer(exchange, answer.status, answer.text);
    }

    private record Answer(int status, String text, boolean replayed) {
        Answer(int status, String text) {
            this(status, text, false);
        }
    }

    private static <T> Answer answer(Outcome<T> outcome) {
        return outcome.fold(new Outcome.Cases<T, Answer>() {
            @Override
            public Answer executed(Outcome.Executed<T> executed) {
                return new Answer(200, String.valueOf(executed.value()));
            }

            @Override
            public Answer replayed(Outcome.Replayed<T> replayed) {
                return new Answer(200, String.valueOf(replayed.value()), true);
            }

            @Override
            public Answer failed(Outcome.Failed<T> failed) {
                return new Answer(402, failed.failure().code());
            }

            @Override
            public Answer inFlight(Outcome.InFlight<T> inFlight) {
                return new Answer(409, "in_progress");
            }

            @Override
            public Answer mismatched(Outcome.Mismatched<T> mismatched) {
                return new Answer(422, "mismatch");
            }

            @Override
            public Answer unknown(Outcome.Unknown<T> unknown) {
                return new Answer(409, "outcome_unknown");
            }

            @Override
            public Answer expired(Outcome.Expired<T> expired) {
                return new Answer(410, "expired");
            }
        });
    }
}
