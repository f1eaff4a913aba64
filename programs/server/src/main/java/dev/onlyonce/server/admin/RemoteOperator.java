package dev.onlyonce.server.admin;

import dev.onlyonce.http.admin.AdminAction;
import dev.onlyonce.http.admin.AdminHandler;
import dev.onlyonce.http.admin.AdminOperator;
import dev.onlyonce.http.admin.Bodies;
import dev.onlyonce.http.admin.Json;
import dev.onlyonce.http.admin.KeyView;
import dev.onlyonce.http.admin.Matching;
import dev.onlyonce.http.admin.Operations;
import dev.onlyonce.http.admin.Overview;
import dev.onlyonce.http.admin.Series;
import dev.onlyonce.http.admin.TopTenants;
import dev.onlyonce.store.StoreUnavailable;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Works through a running gateway's admin API. */
public final class RemoteOperator implements AdminOperator {
    private static final Duration ANSWER_MAX = Duration.ofMinutes(2);

    private final URI base;
    private final String token;
    private boolean found;
    private final HttpClient client =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();

    /** With the API's address, e.g. {@code http://127.0.0.1:8091}, and the credential. */
    public RemoteOperator(URI base, String token) {
        this.base = base;
        this.token = token;
    }

    @Override
    public Overview overview() {
        return get(AdminAction.OVERVIEW, new Query(), Overview.class);
    }

    @Override
    public Series series(long since) {
        return get(AdminAction.SERIES, new Query().with("since", Long.toString(since)), Series.class);
    }

    @Override
    public Page keys(KeyFilter filter) {
        return get(AdminAction.KEYS_LIST, query(filter), Page.class);
    }

    private static Query query(KeyFilter filter) {
        return new Query()
                .with("tenant", filter.tenant())
                .with("operation", filter.operation())
                .with("state", filter.state())
                .with("olderThan", filter.olderThan())
                .with("newerThan", filter.newerThan())
                .with("node", filter.node())
                .with("prefix", filter.prefix())
                .with("after", filter.after())
                .with("limit", Integer.toString(filter.limit()));
    }

    private static Query query(KeyName name) {
        return new Query()
                .with("tenant", name.tenant())
                .with("key", name.key())
                .with("operation", name.operation())
                .with("ref", name.ref());
    }

    @Override
    public History history(KeyName name) {
        return get(AdminAction.KEYS_HISTORY, query(name), History.class);
    }

    @Override
    public Optional<KeyView> key(KeyName name) {
        try {
            return Optional.of(get(AdminAction.KEYS_SHOW, query(name), KeyView.class));
        } catch (Refused e) {
            if (e.isAbsent()) {
                return Optional.empty();
            }
            throw e;
        }
    }

    @Override
    public Matching match(KeyName name, Matching.Sample request) {
        return post(AdminAction.KEYS_MATCH, new Bodies.Match(name, request), Matching.class);
    }

    @Override
    public KeyView resolve(KeyName name, Finding finding) {
        return post(AdminAction.KEYS_RESOLVE, new Bodies.Resolve(name, finding), KeyView.class);
    }

    @Override
    public KeyView note(KeyName name, String text) {
        return post(AdminAction.KEYS_NOTE, new Bodies.Note(name, text), KeyView.class);
    }

    @Override
    public void evict(KeyName name, String reason) {
        post(AdminAction.KEYS_EVICT, new Bodies.Evict(name, reason), Bodies.Done.class);
    }

    @Override
    public Backlog reconcileList(KeyFilter filter) {
        return get(AdminAction.RECONCILE_LIST, query(filter), Backlog.class);
    }

    @Override
    public ReconcileRun reconcileRun(@Nullable KeyName name) {
        return post(AdminAction.RECONCILE_RUN, new Bodies.Ask(name), ReconcileRun.class);
    }

    @Override
    public Resolved reconcileResolve(List<AtAttempt> keys, Finding finding) {
        return post(AdminAction.RECONCILE_RESOLVE, new Bodies.ResolveAll(keys, finding), Resolved.class);
    }

    @Override
    public DeadLetters outboxList(long after, int limit) {
        Query query = new Query().with("after", Long.toString(after)).with("limit", Integer.toString(limit));
        return get(AdminAction.OUTBOX_LIST, query, DeadLetters.class);
    }

    @Override
    public DeadLetter outboxShow(long id) {
        return get(AdminAction.OUTBOX_SHOW, new Query().with("id", Long.toString(id)), DeadLetter.class);
    }

    @Override
    public GivenUpMessage outboxMessage(long id) {
        return get(AdminAction.OUTBOX_MESSAGE, new Query().with("id", Long.toString(id)), GivenUpMessage.class);
    }

    @Override
    public void outboxRetry(long id, String reason) {
        post(AdminAction.OUTBOX_RETRY, new Bodies.Letter(id, reason), Bodies.Done.class);
    }

    @Override
    public void outboxDrop(long id, String reason) {
        post(AdminAction.OUTBOX_DROP, new Bodies.Letter(id, reason), Bodies.Done.class);
    }

    @Override
    public Operations operations() {
        return get(AdminAction.OPERATIONS, new Query(), Operations.class);
    }

    @Override
    public TopTenants tenants(int limit) {
        return get(AdminAction.TENANTS, new Query().with("limit", Integer.toString(limit)), TopTenants.class);
    }

    @Override
    public void storeAccept(String reason) {
        post(AdminAction.STORE_ACCEPT, new Bodies.Acceptance(reason), Bodies.Done.class);
    }

    @Override
    public SchemaView schemaStatus() {
        return get(AdminAction.SCHEMA_STATUS, new Query(), SchemaView.class);
    }

    @Override
    public SchemaView schemaApply() {
        return post(AdminAction.SCHEMA_APPLY, Map.of(), SchemaView.class);
    }

    /** This release's own: nobody need be asked. */
    @Override
    public String schemaScript(String database) {
        return SqlTables.scriptOf(database);
    }

    @Override
    public Stats stats() {
        return get(AdminAction.STATS, new Query(), Stats.class);
    }

    private static final class Query {
        private final List<String> parts = new ArrayList<>();

        Query with(String name, @Nullable String value) {
            if (value != null) {
                parts.add(name + "=" + URLEncoder.encode(value, StandardCharsets.UTF_8));
            }
            return this;
        }

        @Override
        public String toString() {
            return parts.isEmpty() ? "" : "?" + String.join("&", parts);
        }
    }

    private <T> T get(AdminAction action, Query query, Class<T> type) {
        return send(HttpRequest.newBuilder(base.resolve(action.path() + query)).GET(), type);
    }

    private <T> T post(AdminAction action, Object body, Class<T> type) {
        return send(
                HttpRequest.newBuilder(base.resolve(action.path()))
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofByteArray(Json.write(body))),
                type);
    }

    private <T> T send(HttpRequest.Builder request, Class<T> type) {
        if (!found) {
            findAdminApi();
            found = true;
        }
        HttpResponse<byte[]> response = send(request.header("Authorization", "Bearer " + token));
        if (response.statusCode() == 200) {
            return Json.readAnswer(response.body(), type);
        }
        String detail = detail(response);
        switch (response.statusCode()) {
            case 400 -> throw new IllegalArgumentException(detail);
            case 404, 409 -> throw new Refused(response.statusCode() == 404, detail);
            case 503 -> throw new StoreUnavailable(detail, null);
            default -> throw new IllegalStateException("The gateway at " + base + " says: " + detail);
        }
    }

    /** At the port for clients, the service would get the credential. */
    private void findAdminApi() {
        HttpResponse<byte[]> response = send(HttpRequest.newBuilder(base.resolve("/v1")));
        if (response.statusCode() == 421) {
            throw new IllegalStateException("The gateway at " + base + " says: " + detail(response));
        }
        boolean admin = response.statusCode() == 401
                && response.headers().allValues("WWW-Authenticate").contains(AdminHandler.CHALLENGE);
        if (!admin) {
            throw new IllegalStateException("There is no admin API at " + base + " (it answers with status "
                    + response.statusCode()
                    + "), so the credential was not sent. A gateway prints at its start where operators connect, port"
                    + " 8091 unless configured otherwise; give that with --admin");
        }
    }

    private HttpResponse<byte[]> send(HttpRequest.Builder request) {
        try {
            return client.send(request.timeout(ANSWER_MAX).build(), HttpResponse.BodyHandlers.ofByteArray());
        } catch (IOException e) {
            throw new StoreUnavailable(
                    "no gateway answers at " + base + "; is it running? To work without it, use --db", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreUnavailable("interrupted", e);
        }
    }

    private static String detail(HttpResponse<byte[]> response) {
        try {
            Object detail = Json.read(response.body(), Map.class).get("detail");
            return detail == null ? "status " + response.statusCode() : detail.toString();
        } catch (IllegalArgumentException e) {
            return "status " + response.statusCode();
        }
    }

    @Override
    public void close() {}
}
