package dev.onlyonce.http.admin;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Everything that an operator can do: each is a request to the admin API, a command of the command line, a line of their reference, and what
 * the console asks for.
 */
public enum AdminAction {
    /** The node and the store at a glance. */
    OVERVIEW(
            "GET /v1/overview",
            "Shows this node's rates and latencies, and what everybody's store holds",
            Overview.class),
    /** The last hour. */
    SERIES("GET /v1/series?since=", "Shows this node's last hour in steps of ten seconds", Series.class),
    /** Lists keys. */
    KEYS_LIST(
            "GET /v1/keys?tenant=&operation=&state=&olderThan=&newerThan=&node=&prefix=&after=&limit=",
            "Lists keys; `next` of the answer is the next `after`, and a page may hold fewer than `limit` and still"
                    + " have a next. `target` is the method and path of a key's first request, without the query",
            AdminOperator.Page.class),
    /** Shows a key with its response. */
    KEYS_SHOW(
            "GET /v1/keys/show?tenant=&key=&operation=&ref=",
            "Shows one key with its response and its history",
            KeyView.class),
    /** Shows who changed a key, when and why. */
    KEYS_HISTORY(
            "GET /v1/keys/history?tenant=&key=&operation=&ref=",
            "Shows who changed a key, when, from, to and why; also of a deleted key",
            AdminOperator.History.class),
    /** Compares a request with the one that a key was used for. */
    KEYS_MATCH(
            "POST /v1/keys/match",
            "Tells whether a request would match the one that the key was used for; changes nothing",
            Bodies.Match.class,
            Matching.class),
    /** Records what happened to an unknown key. */
    KEYS_RESOLVE("POST /v1/keys/resolve", "Records the outcome of an unknown key", Bodies.Resolve.class, KeyView.class),
    /** Leaves a note about an unknown key. */
    KEYS_NOTE(
            "POST /v1/keys/note", "Writes a note into the history of an unknown key", Bodies.Note.class, KeyView.class),
    /** Forgets a settled key. */
    KEYS_EVICT("POST /v1/keys/evict", "Deletes a settled key", Bodies.Evict.class, Bodies.Done.class),
    /** Lists unknown keys. */
    RECONCILE_LIST(
            "GET /v1/reconcile?tenant=&operation=&olderThan=&after=&limit=",
            "Lists unknown keys, and what their reconcilers said last",
            AdminOperator.Backlog.class),
    /** Asks about them now. */
    RECONCILE_RUN(
            "POST /v1/reconcile/run",
            "Asks about all of them now, or about one `key`",
            Bodies.Ask.class,
            AdminOperator.ReconcileRun.class),
    /** Records what happened to several unknown keys. */
    RECONCILE_RESOLVE(
            "POST /v1/reconcile/resolve",
            "Records one outcome for up to 100 unknown keys, each at the attempt that was listed",
            Bodies.ResolveAll.class,
            AdminOperator.Resolved.class),
    /** Lists dead letters. */
    OUTBOX_LIST(
            "GET /v1/outbox?after=&limit=",
            "Lists dead letters, and the messages that consumers of this node have given up",
            AdminOperator.DeadLetters.class),
    /** Shows a dead letter with its payload. */
    OUTBOX_SHOW("GET /v1/outbox/show?id=", "Shows a dead letter with its payload", AdminOperator.DeadLetter.class),
    /** Shows a message that a consumer has given up, with its payload. */
    OUTBOX_MESSAGE(
            "GET /v1/outbox/message?id=",
            "Shows one of the last messages that consumers of this node have given up, with its payload",
            AdminOperator.GivenUpMessage.class),
    /** Gives a dead letter all its tries again. */
    OUTBOX_RETRY(
            "POST /v1/outbox/retry", "Gives a dead letter all its tries again", Bodies.Letter.class, Bodies.Done.class),
    /** Forgets a dead letter. */
    OUTBOX_DROP(
            "POST /v1/outbox/drop",
            "Forgets a dead letter; its key stays as it is",
            Bodies.Letter.class,
            Bodies.Done.class),
    /** Lists operations. */
    OPERATIONS(
            "GET /v1/operations", "Lists operations with their policies, and what is not protected", Operations.class),
    /** Lists tenants. */
    TENANTS("GET /v1/tenants?limit=", "Lists the tenants that this node has most to do with", TopTenants.class),
    /** Prints the schema. */
    SCHEMA_PRINT("GET /v1/schema/script?database=", "Prints the script that creates the tables", String.class),
    /** Creates or upgrades the tables. */
    SCHEMA_APPLY(
            "POST /v1/schema/apply",
            "Creates or upgrades the tables",
            Bodies.Nothing.class,
            AdminOperator.SchemaView.class),
    /** Says where the tables stand. */
    SCHEMA_STATUS("GET /v1/schema", "Says where the tables stand", AdminOperator.SchemaView.class),
    /** Accepts that the store is empty, or another one than before. */
    STORE_ACCEPT(
            "POST /v1/store/accept",
            "Accepts the store as it is; 409 if there is nothing to accept",
            Bodies.Acceptance.class,
            Bodies.Done.class),
    /** Counts. */
    STATS("GET /v1/stats", "Counts keys by state", AdminOperator.Stats.class);

    private static final Map<String, AdminAction> BY_ROUTE =
            Arrays.stream(values()).collect(Collectors.toMap(AdminAction::route, Function.identity()));

    private final String route;
    private final String parameters;
    private final String summary;
    private final @Nullable Class<?> body;
    private final Class<?> answer;

    AdminAction(String template, String summary, Class<?> answer) {
        this(template, summary, null, answer);
    }

    AdminAction(String template, String summary, @Nullable Class<?> body, Class<?> answer) {
        int query = template.indexOf('?');
        this.route = query < 0 ? template : template.substring(0, query);
        this.parameters = query < 0 ? "" : template.substring(query + 1).replace("=", "");
        this.summary = summary;
        this.body = body;
        this.answer = answer;
    }

    /** What a request asks for, e.g. {@code GET} and {@code /v1/keys}. */
    static Optional<AdminAction> of(String method, String path) {
        return Optional.ofNullable(BY_ROUTE.get(method + " " + path));
    }

    /** Method and path of the request, e.g. {@code GET /v1/keys}. */
    public String route() {
        return route;
    }

    /** The method of the request. */
    public String method() {
        return route.substring(0, route.indexOf(' '));
    }

    /** The path of the request. */
    public String path() {
        return route.substring(route.indexOf(' ') + 1);
    }

    /** The parameters of its query. */
    public List<String> parameters() {
        return parameters.isEmpty() ? List.of() : List.of(parameters.split("&"));
    }

    /** What it does, in one sentence without a full stop. */
    public String summary() {
        return summary;
    }

    /** What is posted; empty for those that only read. */
    public Optional<Class<?>> body() {
        return Optional.ofNullable(body);
    }

    /** What it answers with. */
    public Class<?> answer() {
        return answer;
    }

    /** Whether it changes or starts something, and so needs the right of an operator. */
    public boolean changes() {
        return body != null && this != KEYS_MATCH;
    }

    /** The words of the command, e.g. {@code keys list}. */
    public String command() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
