package dev.onlyonce.client;

import dev.onlyonce.client.CallResult.Reason;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests that must take effect once. Each call has a business id, such as {@code order-42/pay}. The client makes one key
 * for it, writes key and request to the journal, and only then sends. It retries with the same key and the same bytes until the
 * answer is definitive. After a crash, {@link #pending} lists what is open and {@link #resume()} finishes it. Any thread may
 * call.
 *
 * <p>It never makes a second key for an id. Only {@link #forget} allows one.
 */
public final class RetryingClient implements AutoCloseable {
    private static final int THREADS_MAX = 256;
    private static final int QUEUE_MAX = 10_000;
    private static final Duration CONNECT_MAX = Duration.ofSeconds(10);

    private final ClientContext context;
    private final KeySource keys;
    private final Transport transport;
    private final ThreadPoolExecutor threads;
    /** How many runs of an id are under way here. */
    private final ConcurrentMap<String, Integer> running = new ConcurrentHashMap<>();

    private RetryingClient(Builder builder) {
        context = new ClientContext(builder);
        keys = builder.keys;
        HttpClient http = builder.http == null
                ? HttpClient.newBuilder().connectTimeout(CONNECT_MAX).build()
                : builder.http;
        transport = new HttpTransport(http, builder.expectContinue);
        threads = new ThreadPoolExecutor(
                THREADS_MAX, THREADS_MAX, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(QUEUE_MAX), task -> {
                    Thread thread = new Thread(task, "onlyonce-client");
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
    }

    /** Starts building a client, which closes the journal when it is closed. */
    public static Builder builder(Journal journal) {
        return new Builder(journal);
    }

    /**
     * Sends until the answer is definitive or the policy says stop. If the journal has the answer to this id already, it
     * returns that and sends nothing; if the call is open, it continues with its key.
     *
     * @throws JournalException if the journal cannot be written; nothing was sent
     * @throws IdReused if the id was used for another request; nothing was sent
     * @throws KeyReused if the server says that the key was used for another request
     * @throws InterruptedException the call stays open in the journal
     */
    public CallResult send(String id, CallRequest request) throws InterruptedException {
        return send(id, request, transport);
    }

    /** As {@link #send(String, CallRequest)}, with another HTTP client. */
    public CallResult send(String id, CallRequest request, Transport by) throws InterruptedException {
        JournaledCall fresh = call(id, request, context.time.now());
        Optional<JournaledCall> earlier = context.journal.begin(fresh);
        if (earlier.isEmpty()) {
            context.ended(id);
            return run(fresh, request, by);
        }
        if (!earlier.get().request().isSameAs(request)) {
            throw new IdReused(id, earlier.get().request());
        }
        return goOn(earlier.get(), earlier.get().request().headers(request.headers()), by);
    }

    /**
     * As {@link #send(String, CallRequest)}, on a thread of the client. Cancelling the future stops it; the call stays open in
     * the journal, if it was begun.
     */
    public CompletableFuture<CallResult> sendAsync(String id, CallRequest request) {
        return sendAsync(id, request, transport);
    }

    /** As {@link #sendAsync(String, CallRequest)}, with another HTTP client. */
    public CompletableFuture<CallResult> sendAsync(String id, CallRequest request, Transport by) {
        CompletableFuture<CallResult> result = new CompletableFuture<>();
        FutureTask<?> task =
                new FutureTask<>(
                        () -> {
                            try {
                                result.complete(send(id, request, by));
                            } catch (InterruptedException e) {
                                result.cancel(false);
                            } catch (RuntimeException | Error e) {
                                result.completeExceptionally(e);
                            }
                        },
                        null) {
                    @Override
                    protected void done() {
                        // Also if it never ran, because the client was closed.
                        result.cancel(false);
                    }
                };
        threads.execute(task);
        var unused = result.whenComplete((done, failure) -> {
            if (result.isCancelled()) {
                task.cancel(true);
            }
        });
        return result;
    }

    /**
     * Makes a call with its key and sends nothing. Write it to the journal yourself, in the transaction that decides on it, and
     * {@link #resume(String)} it after the commit.
     */
    public JournaledCall prepare(String id, CallRequest request) {
        return call(id, request, null);
    }

    /**
     * The calls without a definitive answer, oldest first, also those that are under way. Leaves out those that the journal cannot read:
     * {@link CallListener#journalFailed} hears of them, and {@link #resume()} names them.
     */
    public List<JournaledCall> pending() {
        List<JournaledCall> pending = new ArrayList<>();
        for (String id : context.journal.pending()) {
            readable(id)
                    .filter(call -> call.progress().answer() == null)
                    .map(RetryingClient::listed)
                    .ifPresent(pending::add);
        }
        return pending;
    }

    private Optional<JournaledCall> readable(String id) {
        try {
            return context.journal.find(id);
        } catch (JournalException e) {
            return Optional.empty();
        }
    }

    /** Continues one call: the same key, the same bytes. Credentials come from {@link Builder#attemptHeaders}. */
    public CallResult resume(String id) throws InterruptedException {
        JournaledCall call = context.journal
                .find(id)
                .orElseThrow(() -> new IllegalArgumentException("The journal has no call with the id " + id));
        return goOn(call, call.request(), transport);
    }

    /**
     * Continues all open calls that are not under way here, one after the other. Returns the result of each; a call that the journal
     * cannot read or write is in doubt, and nothing was sent for it.
     */
    public Map<String, CallResult> resume() throws InterruptedException {
        Map<String, CallResult> results = new LinkedHashMap<>();
        for (String id : context.journal.pending()) {
            if (!running.containsKey(id)) {
                resumeOne(id).ifPresent(result -> results.put(id, result));
            }
        }
        return results;
    }

    /** One bug, or one call that is damaged, must not keep the others from their end. */
    private Optional<CallResult> resumeOne(String id) throws InterruptedException {
        try {
            Optional<JournaledCall> call = context.journal.find(id);
            return call.isEmpty()
                    ? Optional.empty()
                    : Optional.of(goOn(call.get(), call.get().request(), transport));
        } catch (KeyReused e) {
            return Optional.of(new CallResult.InDoubt(id, Reason.KEY_REUSED, false, List.of()));
        } catch (JournalException e) {
            return Optional.of(new CallResult.InDoubt(id, Reason.JOURNAL, true, List.of()));
        }
    }

    /**
     * Removes a call from the journal, answered or not. Use it when you know the outcome: the next call with its id gets a new key.
     *
     * @return whether there was one
     */
    public boolean forget(String id) {
        context.ended(id);
        return context.journal.forget(id);
    }

    /** Stops what is under way, which stays open in the journal, and closes the journal. */
    @Override
    public void close() {
        for (Runnable waiting : threads.shutdownNow()) {
            ((FutureTask<?>) waiting).cancel(false);
        }
        try {
            boolean ended = threads.awaitTermination(5, TimeUnit.SECONDS);
            assert ended || threads.isShutdown();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        context.journal.close();
    }

    private JournaledCall call(String id, CallRequest request, @Nullable Instant sentAt) {
        context.check(request);
        Instant now = context.time.now();
        return new JournaledCall(
                id,
                keys.make(id),
                request.withoutSecrets(context.secretHeaders),
                new JournaledCall.Progress(now, sentAt));
    }

    /** Without the bytes of the body: a list of all of them would be large. */
    private static JournaledCall listed(JournaledCall call) {
        CallRequest request = call.request();
        return new JournaledCall(
                call.id(),
                call.key(),
                new CallRequest(request.method(), request.uri(), request.headers(), CallBody.none()),
                call.progress());
    }

    private CallResult goOn(JournaledCall call, CallRequest live, Transport by) throws InterruptedException {
        CallResponse answer = call.progress().answer();
        if (answer != null) {
            Reading reading = Reading.of(answer, context.policy.server());
            if (reading.isDone()) {
                return new CallResult.Done(call.id(), answer, true, List.of());
            }
            if (reading.isRefusedForGood()) {
                return new CallResult.Refused(call.id(), answer, reading.why(), List.of());
            }
            // It was refused before anything was executed, or what was kept of the answer does not tell its meaning.
            // The caller
            // asks again, so it is open again, with the same key.
        }
        JournaledCall now = context.journal
                .sending(call.id(), context.time.now())
                .orElseThrow(() -> new JournalException(
                        "The call " + call.id() + " was forgotten just now; nothing was sent. Send it again"));
        CallResponse meanwhile = now.progress().answer();
        return meanwhile == null ? run(now, live, by) : new CallResult.Done(call.id(), meanwhile, true, List.of());
    }

    private CallResult run(JournaledCall call, CallRequest live, Transport by) throws InterruptedException {
        running.merge(call.id(), 1, Integer::sum);
        context.sentHere.sending(call.id());
        try {
            return new CallRun(context, call, live, by).run();
        } finally {
            running.computeIfPresent(call.id(), (id, count) -> count > 1 ? count - 1 : null);
        }
    }

    /** Builds a {@link RetryingClient}. */
    public static final class Builder {
        final Journal journal;
        RetryPolicy policy = RetryPolicy.standard();
        ClientTime time = ClientTime.system();
        KeySource keys = KeySource.random();
        String keyHeader = "Idempotency-Key";
        boolean quotedKeys;
        boolean expectContinue;

        @Nullable
        HttpClient http;

        Function<CallRequest, Map<String, String>> attemptHeaders = request -> Map.of();
        final Map<Origin, Function<CallRequest, Map<String, String>>> originHeaders = new HashMap<>();
        final Set<String> secretHeaders = new TreeSet<>();
        final List<CallListener> listeners = new ArrayList<>();

        private Builder(Journal journal) {
            this.journal = journal;
        }

        /** When to try again, and when to stop. */
        public Builder policy(RetryPolicy policy) {
            this.policy = policy;
            return this;
        }

        /** How keys are made; random ones by default. */
        public Builder keys(KeySource keys) {
            this.keys = keys;
            return this;
        }

        /** The name of the header, for servers that use another. */
        public Builder keyHeader(String name) {
            this.keyHeader = name;
            return this;
        }

        /** Sends keys as RFC 8941 strings, in quotation marks, as the IETF's draft says. Most servers expect bare keys. */
        public Builder quotedKeys(boolean quoted) {
            this.quotedKeys = quoted;
            return this;
        }

        /**
         * TLS, proxy, HTTP version, connect timeout.
         *
         * @throws IllegalArgumentException if it follows redirects: the JDK would turn a POST into a GET
         */
        public Builder http(HttpClient http) {
            if (http.followRedirects() != HttpClient.Redirect.NEVER) {
                throw new IllegalArgumentException(
                        "The HttpClient must not follow redirects; the client itself follows 307 and 308");
            }
            this.http = http;
            return this;
        }

        /**
         * Whether to send the body only after the server has said 100 (Continue). A server that answers 417 gets the request again
         * without the expectation.
         */
        public Builder expectContinue(boolean expect) {
            this.expectContinue = expect;
            return this;
        }

        /**
         * Headers for every attempt to one origin, made when it is sent: credentials. They are never stored. Another origin, to which
         * the journal may have calls too, or to which a server redirects, does not get them.
         *
         * @param origin such as {@code https://api.example.com}; path and query do not matter
         */
        public Builder attemptHeaders(URI origin, Function<CallRequest, Map<String, String>> headers) {
            originHeaders.put(Origin.of(origin), headers);
            return this;
        }

        /** Headers for every attempt to any origin, made when it is sent: trace headers. A credential among them fails the attempt. */
        public Builder attemptHeaders(Function<CallRequest, Map<String, String>> headers) {
            this.attemptHeaders = headers;
            return this;
        }

        /** More headers that must not be stored, besides {@code Authorization}, {@code Cookie}, {@code X-Api-Key} and the like. */
        public Builder secretHeaders(String... names) {
            for (String name : names) {
                secretHeaders.add(name.toLowerCase(Locale.ROOT));
            }
            return this;
        }

        /** Adds a listener. */
        public Builder listener(CallListener listener) {
            listeners.add(listener);
            return this;
        }

        /** The source of time, for tests. */
        public Builder time(ClientTime time) {
            this.time = time;
            return this;
        }

        /** Builds it. */
        public RetryingClient build() {
            return new RetryingClient(this);
        }
    }
}
