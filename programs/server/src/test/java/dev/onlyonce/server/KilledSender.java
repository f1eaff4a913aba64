package dev.onlyonce.server;

import dev.onlyonce.client.Attempt;
import dev.onlyonce.client.CallListener;
import dev.onlyonce.client.CallRequest;
import dev.onlyonce.client.CallResult;
import dev.onlyonce.client.RetryPolicy;
import dev.onlyonce.client.RetryingClient;
import dev.onlyonce.client.journal.SqliteJournal;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * An application that pays orders, to be killed. It has no memory of its own: after a restart it asks its journal what is open,
 * finishes that, and then goes through all orders from the first.
 */
final class KilledSender {
    private static final int AT_ONCE = 8;

    private KilledSender() {}

    /** Journal, URL, number of orders. */
    public static void main(String[] arguments) throws Exception {
        URI url = URI.create(arguments[1]);
        int orders = Integer.parseInt(arguments[2]);
        RetryPolicy policy = RetryPolicy.builder()
                .firstPause(Duration.ofMillis(5))
                .longestPause(Duration.ofMillis(100))
                .attemptTimeout(Duration.ofSeconds(5))
                .retryShare(1)
                .build();
        try (RetryingClient client = RetryingClient.builder(SqliteJournal.open(Path.of(arguments[0])))
                .policy(policy)
                .listener(new CallListener() {
                    @Override
                    public void attempted(String id, Attempt attempt) {
                        System.out.println("attempted " + id);
                    }
                })
                .build()) {
            System.out.println("open " + client.pending().size());
            client.resume();
            for (int first = 0; first < orders; first += AT_ONCE) {
                pay(client, url, first, Math.min(orders, first + AT_ONCE));
            }
            System.out.println("all done, open " + client.pending().size());
        }
    }

    private static void pay(RetryingClient client, URI url, int first, int end)
            throws InterruptedException, ExecutionException {
        List<CompletableFuture<CallResult>> calls = new ArrayList<>();
        for (int order = first; order < end; order++) {
            calls.add(client.sendAsync("order-" + order, request(url, order)));
        }
        for (int i = 0; i < calls.size(); i++) {
            CallResult result = calls.get(i).get();
            while (!(result instanceof CallResult.Done)) {
                result = client.send("order-" + (first + i), request(url, first + i));
            }
        }
    }

    private static CallRequest request(URI url, int order) {
        return CallRequest.post(url, "{\"order\":\"order-" + order + "\"}");
    }
}
