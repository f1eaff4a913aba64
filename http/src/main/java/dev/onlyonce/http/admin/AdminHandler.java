package dev.onlyonce.http.admin;

import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Time;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers requests of operators: the console's files, its session, and everything in {@link AdminAction}. Knows no transport.
 *
 * <ol>
 *   <li>{@link #open} looks at the head of a request, and never blocks. It refuses whoever may not ask, before anybody reads a body.
 *   <li>The transport reads the body up to the bound, and has the work done on a thread that may block.
 * </ol>
 */
public final class AdminHandler {
    /** Tells an admin API from a service: clients look for it before they send their credential. */
    public static final String CHALLENGE = "Bearer realm=\"onlyonce-admin\"";

    /** The largest stored response, in Base64. */
    private static final int BODY_BYTES_MAX = 20 << 20;

    private static final int LOG_IN_BYTES_MAX = 8 << 10;
    private static final int PAGE = 100;
    private static final int TENANTS = 20;
    private static final String API = "/v1";
    private static final String SESSION = "/v1/session";
    private static final String DESCRIPTION = "/v1/openapi.json";
    private static final Logger log = LoggerFactory.getLogger(AdminHandler.class);

    private final LocalOperator operator;
    private final Access access;
    private final @Nullable String home;
    private final ConsoleFiles files = new ConsoleFiles();

    /** What to do next. */
    public sealed interface Step {
        /** Send this. */
        record Answered(HttpAnswer answer) implements Step {}

        /**
         * Read the body, then have this done on a thread that may block. More bytes than the bound are refused with {@link
         * AdminHandler#tooLarge}.
         */
        record Read(int bytesMax, Function<byte[], HttpAnswer> work) implements Step {}
    }

    /**
     * Works for whoever the access admits.
     *
     * @param home a page that the console leads back to; null for none
     */
    public AdminHandler(LocalOperator operator, Access access, @Nullable String home) {
        this.operator = operator;
        this.access = access;
        this.home = home;
    }

    /** Looks at the head of a request. Never blocks. */
    public Step open(AdminRequest request) {
        Step step = access.refuse(request).<Step>map(Step.Answered::new).orElseGet(() -> route(request));
        if (step instanceof Step.Read read) {
            return new Step.Read(read.bytesMax(), body -> Replies.guarded(timed(read.work(), body)));
        }
        return new Step.Answered(Replies.guarded(((Step.Answered) step).answer()));
    }

    /** Says how long it took: pages that ask again and again wait longer after what took long. */
    private HttpAnswer timed(Function<byte[], HttpAnswer> work, byte[] body) {
        Time time = operator.parts().once().registry().time();
        long begin = time.nanos();
        HttpAnswer answer = guardedWork(work, body);
        double millis = (time.nanos() - begin) / 1e6;
        return answer.header("Server-Timing", String.format(Locale.ROOT, "work;dur=%.1f", millis));
    }

    private static HttpAnswer guardedWork(Function<byte[], HttpAnswer> work, byte[] body) {
        try {
            return work.apply(body);
        } catch (AdminOperator.Refused e) {
            return Replies.problem(e.isAbsent() ? 404 : 409, String.valueOf(e.getMessage()));
        } catch (IllegalArgumentException e) {
            return Replies.problem(400, String.valueOf(e.getMessage()));
        } catch (StoreException e) {
            return Replies.problem(503, "The store cannot be used: " + e.getMessage());
        } catch (RuntimeException e) {
            log.error("The operators' interface failed", e);
            return Replies.problem(500, "It failed; the program's log says why");
        }
    }

    /** The answer to a body that is larger than the bound. */
    public static HttpAnswer tooLarge(int bytesMax) {
        String bound = bytesMax < 1 << 20 ? (bytesMax >> 10) + " KiB" : (bytesMax >> 20) + " MiB";
        return Replies.guarded(Replies.problem(413, "The body is larger than " + bound));
    }

    private Step route(AdminRequest request) {
        String path = request.path();
        if (path.equals(SESSION) && !request.mount().isEmpty()) {
            return session(request);
        }
        if (path.equals(API) || path.startsWith(API + "/")) {
            return api(request);
        }
        if (path.isEmpty()) {
            // Relative: the path was spelt by the client.
            String last = request.mount().substring(request.mount().lastIndexOf('/') + 1);
            Headers location = Headers.of("Location", last + "/", "Cache-Control", "no-store");
            return new Step.Answered(HttpAnswer.of(302, location));
        }
        return new Step.Answered(
                files.answer(request).orElseGet(() -> Replies.problem(404, "There is no such page of the console.")));
    }

    private Step session(AdminRequest request) {
        return switch (request.method()) {
            case "GET" -> new Step.Answered(access.session(request, about()));
            case "POST" -> new Step.Read(LOG_IN_BYTES_MAX, body -> access.logIn(request, body, about()));
            case "DELETE" -> new Step.Answered(access.logOut(request));
            default -> new Step.Answered(Replies.problem(405, "A session is read, begun (POST) and ended (DELETE)."));
        };
    }

    private Access.About about() {
        AdminParts parts = operator.parts();
        List<String> features = new ArrayList<>(List.of("bulk", "reconcile", "prefix"));
        if (parts.outbox() != null) {
            features.add("outbox");
        }
        if (parts.program().boundary().isPresent()) {
            features.add("match");
        }
        return new Access.About(
                parts.program().kind(),
                parts.once().registry().name(),
                parts.program().version(),
                List.copyOf(features),
                home);
    }

    private Step api(AdminRequest request) {
        Optional<AdminAction> action = AdminAction.of(request.method(), request.path());
        boolean changes =
                action.map(AdminAction::changes).orElse(!request.method().equals("GET"));
        Access.Admission admission = access.admit(request, changes);
        if (admission instanceof Access.Admission.Refused refused) {
            return new Step.Answered(refused.answer());
        }
        Caller caller = ((Access.Admission.Admitted) admission).caller();
        if (action.isEmpty()) {
            return new Step.Answered(
                    request.path().equals(DESCRIPTION)
                            ? Replies.tagged(request, Replies.json(200, ApiDescription.document()))
                            : Replies.problem(
                                    404,
                                    "There is no " + request.method() + " " + request.path()
                                            + "; see docs/reference/admin-api.md"));
        }
        return new Step.Read(BODY_BYTES_MAX, body -> {
            HttpAnswer answer = act(action.get(), operator.as(caller), new Given(request, body));
            return request.method().equals("GET") ? Replies.tagged(request, answer) : answer;
        });
    }

    private record Given(AdminRequest request, byte[] body) {
        <T> T as(Class<T> type) {
            return Json.read(body, type);
        }

        AdminOperator.KeyName name() {
            String tenant = request.parameter("tenant");
            String key = request.parameter("key");
            String ref = request.parameter("ref");
            if (ref == null && (tenant == null || key == null)) {
                throw new IllegalArgumentException("say which key: ?tenant=…&key=… or ?ref=…");
            }
            return new AdminOperator.KeyName(tenant, key, request.parameter("operation"), ref);
        }

        AdminOperator.KeyFilter filter() {
            return new AdminOperator.KeyFilter(
                    request.parameter("tenant"),
                    request.parameter("operation"),
                    request.parameter("state"),
                    request.parameter("olderThan"),
                    request.parameter("newerThan"),
                    request.parameter("node"),
                    request.parameter("prefix"),
                    request.parameter("after"),
                    limit(PAGE));
        }

        long id() {
            if (request.parameter("id") == null) {
                throw new IllegalArgumentException("say which dead letter: ?id=…");
            }
            return request.number("id", 0);
        }

        int limit(int otherwise) {
            long limit = request.number("limit", otherwise);
            // What is no int is refused as that would be.
            return limit == (int) limit ? (int) limit : Integer.MAX_VALUE;
        }
    }

    private static HttpAnswer act(AdminAction action, AdminOperator operator, Given given) {
        return switch (action) {
            case OVERVIEW -> Replies.json(200, operator.overview());
            case SERIES -> Replies.json(200, operator.series(given.request().number("since", 0)));
            case KEYS_LIST -> Replies.json(200, operator.keys(given.filter()));
            case KEYS_SHOW ->
                operator.key(given.name())
                        .map(view -> Replies.json(200, view))
                        .orElseGet(() -> Replies.problem(404, "There is no such key of this tenant"));
            case KEYS_HISTORY -> Replies.json(200, operator.history(given.name()));
            case RECONCILE_LIST -> Replies.json(200, operator.reconcileList(given.filter()));
            case OUTBOX_LIST ->
                Replies.json(200, operator.outboxList(given.request().number("after", 0), given.limit(PAGE)));
            case OUTBOX_SHOW -> Replies.json(200, operator.outboxShow(given.id()));
            case OUTBOX_MESSAGE -> Replies.json(200, operator.outboxMessage(given.id()));
            case OPERATIONS -> Replies.json(200, operator.operations());
            case TENANTS -> Replies.json(200, operator.tenants(given.limit(TENANTS)));
            case SCHEMA_STATUS -> Replies.json(200, operator.schemaStatus());
            case SCHEMA_PRINT -> {
                String database = given.request().parameter("database");
                if (database == null) {
                    throw new IllegalArgumentException("say which database: ?database=postgresql, mysql, sqlite or h2");
                }
                yield Replies.text(200, "text/plain; charset=utf-8", operator.schemaScript(database));
            }
            case STATS -> Replies.json(200, operator.stats());
            default -> change(action, operator, given);
        };
    }

    private static HttpAnswer change(AdminAction action, AdminOperator operator, Given given) {
        return switch (action) {
            case KEYS_MATCH -> {
                Bodies.Match match = given.as(Bodies.Match.class);
                yield Replies.json(200, operator.match(match.key(), match.request()));
            }
            case KEYS_RESOLVE -> {
                Bodies.Resolve resolve = given.as(Bodies.Resolve.class);
                yield Replies.json(200, operator.resolve(resolve.key(), resolve.finding()));
            }
            case KEYS_NOTE -> {
                Bodies.Note note = given.as(Bodies.Note.class);
                yield Replies.json(200, operator.note(note.key(), note.text()));
            }
            case KEYS_EVICT -> {
                Bodies.Evict evict = given.as(Bodies.Evict.class);
                operator.evict(evict.key(), evict.reason());
                yield Replies.json(200, Bodies.Done.EVICTED);
            }
            case RECONCILE_RUN ->
                Replies.json(
                        200,
                        operator.reconcileRun(
                                given.body().length == 0
                                        ? null
                                        : given.as(Bodies.Ask.class).key()));
            case RECONCILE_RESOLVE -> {
                Bodies.ResolveAll all = given.as(Bodies.ResolveAll.class);
                yield Replies.json(200, operator.reconcileResolve(all.keys(), all.finding()));
            }
            case OUTBOX_RETRY -> {
                Bodies.Letter letter = given.as(Bodies.Letter.class);
                operator.outboxRetry(letter.id(), letter.reason());
                yield Replies.json(200, Bodies.Done.RETRIED);
            }
            case OUTBOX_DROP -> {
                Bodies.Letter letter = given.as(Bodies.Letter.class);
                operator.outboxDrop(letter.id(), letter.reason());
                yield Replies.json(200, Bodies.Done.DROPPED);
            }
            case SCHEMA_APPLY -> Replies.json(200, operator.schemaApply());
            case STORE_ACCEPT -> {
                operator.storeAccept(given.as(Bodies.Acceptance.class).reason());
                yield Replies.json(200, Bodies.Done.ACCEPTED);
            }
            default -> throw new IllegalStateException("nobody does " + action);
        };
    }
}
