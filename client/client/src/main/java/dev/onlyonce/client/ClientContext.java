package dev.onlyonce.client;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What every call of a client shares. */
final class ClientContext {
    private static final Logger log = LoggerFactory.getLogger(ClientContext.class);

    final Journal journal;
    final RetryPolicy policy;
    final ClientTime time;
    final RetryBudget budget;
    final SentHere sentHere;
    final Set<String> secretHeaders;
    private final String keyHeader;
    private final boolean quotedKeys;
    private final Function<CallRequest, Map<String, String>> attemptHeaders;
    private final Map<Origin, Function<CallRequest, Map<String, String>>> originHeaders;
    private final List<CallListener> listeners;

    ClientContext(RetryingClient.Builder builder) {
        journal = new WatchedJournal(builder.journal, failure -> tell(listener -> listener.journalFailed(failure)));
        policy = builder.policy;
        time = builder.time;
        budget = new RetryBudget(policy.pauses().retryShare());
        sentHere = new SentHere(time);
        secretHeaders = Set.copyOf(builder.secretHeaders);
        keyHeader = builder.keyHeader;
        quotedKeys = builder.quotedKeys;
        attemptHeaders = builder.attemptHeaders;
        originHeaders = Map.copyOf(builder.originHeaders);
        listeners = List.copyOf(builder.listeners);
    }

    /** With the key. */
    CallRequest keyed(CallRequest request, String key) {
        String escaped = key.replace("\\", "\\\\").replace("\"", "\\\"");
        return request.header(keyHeader, quotedKeys ? "\"" + escaped + "\"" : key);
    }

    /** With what the application adds to every attempt: trace headers, and credentials for this origin. */
    CallRequest dressed(CallRequest request) {
        Map<String, String> more = attemptHeaders.apply(request);
        for (String name : more.keySet()) {
            if (CallRequest.isSecret(name, secretHeaders)) {
                throw new IllegalArgumentException(
                        "The header " + name + " looks like a credential, and this one would go"
                                + " to every server that the journal has a call to. Bind it: attemptHeaders(origin, headers)");
            }
        }
        Map<String, String> own = originHeaders
                .getOrDefault(Origin.of(request.uri()), nobody -> Map.of())
                .apply(request);
        check(more);
        check(own);
        return request.headers(more).headers(own);
    }

    private void check(Map<String, String> headers) {
        if (headers.keySet().stream().anyMatch(keyHeader::equalsIgnoreCase)) {
            throw new IllegalArgumentException(
                    "The client makes the " + keyHeader + "; leave it out of the attempt's headers");
        }
    }

    /** Throws {@link IllegalArgumentException} if the request brings a key of its own. */
    void check(CallRequest request) {
        if (request.headers().containsKey(keyHeader)) {
            throw new IllegalArgumentException("The client makes the " + keyHeader + "; leave it out of the request");
        }
    }

    /** The journal has the answer. */
    void ended(String id) {
        sentHere.forget(id);
    }

    void tell(Consumer<CallListener> event) {
        for (CallListener listener : listeners) {
            try {
                event.accept(listener);
            } catch (RuntimeException | Error e) {
                log.warn("A listener failed", e);
            }
        }
    }
}
