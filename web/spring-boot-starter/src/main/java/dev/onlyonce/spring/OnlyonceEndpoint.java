package dev.onlyonce.spring;

import dev.onlyonce.Key;
import dev.onlyonce.MalformedKey;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Scope;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.StoredResponse;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Transition;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * For operators, at {@code /actuator/onlyonce}: lists and shows entries, resolves unknown ones, evicts settled ones. Keys and
 * stored responses are shown: expose it only behind authentication.
 */
@Endpoint(id = "onlyonce")
public class OnlyonceEndpoint {
    private static final int LIMIT = 100;

    private final Onlyonce once;
    private final Map<String, Coverage> coverage;
    private final Downgrades downgrades;
    private final Reconcilers reconcilers;

    OnlyonceEndpoint(Onlyonce once, Map<String, Coverage> coverage, Downgrades downgrades, Reconcilers reconcilers) {
        this.once = once;
        this.coverage = coverage;
        this.downgrades = downgrades;
        this.reconcilers = reconcilers;
    }

    /**
     * Entries that fit, at most 100 (or {@code limit}), which handlers and listeners are protected, what is transactional but runs leased,
     * and who reconciles what. With tenant and key: that entry and who changed its state, when and why, also if it is gone.
     *
     * @param scope {@code operation} for keys that are unique in their operation, which is then named too
     */
    @ReadOperation
    public Map<String, Object> entries(
            @Nullable String tenant,
            @Nullable String key,
            @Nullable String scope,
            @Nullable String operation,
            @Nullable String state,
            @Nullable Integer limit) {
        Map<String, Object> answer = new LinkedHashMap<>();
        if (tenant != null && key != null) {
            Key id = valid(() -> key(tenant, scope, operation, key));
            answer.put("entries", once.find(id).map(this::describe).stream().toList());
            answer.put(
                    "history",
                    once.operator().history(id).stream()
                            .map(OnlyonceEndpoint::describe)
                            .toList());
            return answer;
        }
        EntryQuery query = valid(() -> new EntryQuery(
                tenant, operation, state == null ? null : state(state), null, null, limit == null ? LIMIT : limit));
        answer.put(
                "entries",
                once.operator().list(query).stream().map(this::describe).toList());
        answer.put("enabled", true);
        answer.put("liveClaims", once.liveClaims());
        answer.put("leasedThoughTransactional", downgrades.all());
        answer.put("reconcilers", reconcilers.describe());
        answer.putAll(coverage);
        return answer;
    }

    /** Evaluates the parameters; a wrong one is answered with 400 and the reason. */
    private static <T> T valid(Supplier<T> asked) {
        try {
            return asked.get();
        } catch (IllegalArgumentException | MalformedKey e) {
            throw new InvalidEndpointRequestException(
                    String.valueOf(e.getMessage()), String.valueOf(e.getMessage()), e);
        }
    }

    private static String given(String reason) {
        if (reason.isBlank()) {
            throw new IllegalArgumentException("say why, in reason");
        }
        return reason;
    }

    private static State state(String name) {
        for (State state : State.values()) {
            if (name(state).equalsIgnoreCase(name)) {
                return state;
            }
        }
        throw new IllegalArgumentException("there is no state \"" + name + "\"; use one of "
                + Arrays.stream(State.values()).map(OnlyonceEndpoint::name).toList());
    }

    private static Map<String, Object> describe(AuditRecord record) {
        Transition change = record.transition();
        Map<String, Object> described = new LinkedHashMap<>();
        described.put("at", record.at());
        described.put("attempt", change.attempt());
        described.put("from", name(change.from()));
        described.put("to", name(change.to()));
        described.put("who", change.who());
        described.put("why", change.why());
        return described;
    }

    private static String name(@Nullable State state) {
        return state == null ? "nothing" : state.name().toLowerCase(Locale.ROOT);
    }

    private static Key key(String tenant, @Nullable String scope, @Nullable String operation, String key) {
        if (scope == null || scope.equalsIgnoreCase(Scope.TENANT.name())) {
            // The operation does not matter for finding it.
            return Key.of(tenant, "operator", key);
        }
        if (operation == null || !scope.equalsIgnoreCase(Scope.OPERATION.name())) {
            throw new IllegalArgumentException("scope must be tenant, or operation with the name of the operation");
        }
        return new Key(tenant, operation, key, Scope.OPERATION);
    }

    private Map<String, Object> describe(Entry entry) {
        Map<String, Object> described = new LinkedHashMap<>();
        described.put("tenant", entry.id().tenant());
        described.put(
                "scope", Key.of(entry.id(), entry.operation()).scope().name().toLowerCase(Locale.ROOT));
        described.put("key", entry.id().key());
        described.put("operation", entry.operation());
        if (entry.fingerprint().target() != null) {
            described.put("target", entry.fingerprint().target());
        }
        described.put("state", entry.state().name().toLowerCase(Locale.ROOT));
        described.put("attempt", entry.attempt());
        described.put("owner", entry.owner());
        described.put("createdAt", entry.createdAt());
        described.put("leaseUntil", entry.leaseUntil());
        if (entry.settledAt() != null) {
            described.put("settledAt", entry.settledAt());
        }
        if (entry.expiresAt() != null) {
            described.put("expiresAt", entry.expiresAt());
        }
        try {
            once.result(entry)
                    .flatMap(StoredResponse::decode)
                    .ifPresent(response -> described.put("responseStatus", response.status()));
        } catch (StoreUnavailable e) {
            described.put("responseStatus", "cannot be read: " + e.getMessage());
        }
        return described;
    }

    /**
     * Resolves an unknown entry: {@code to} is {@code completed} (with the response's status and body, if they are known) or
     * {@code retryable} (proven: no effect happened).
     *
     * @param attempt as it was shown, so that nobody resolves what has moved on
     */
    @WriteOperation
    @SuppressWarnings("NullAway") // which does not see in class files that a result may be null
    public WebEndpointResponse<Map<String, Object>> resolve(
            SecurityContext security,
            String tenant,
            String key,
            @Nullable String scope,
            @Nullable String operation,
            int attempt,
            String to,
            String reason,
            @Nullable Integer status,
            @Nullable String contentType,
            @Nullable String body) {
        Key id = valid(() -> key(tenant, scope, operation, key));
        State target = valid(() -> state(to));
        byte @Nullable [] result =
                status == null || target != State.COMPLETED ? null : response(status, contentType, body);
        SettleResult settled = once.operator()
                .resolve(valid(
                        () -> new Resolution(id.entryId(), attempt, target, result, who(security), given(reason))));
        boolean done = settled instanceof SettleResult.Settled;
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("resolved", done);
        answer.put("entries", once.find(id).map(this::describe).stream().toList());
        return new WebEndpointResponse<>(answer, done ? 200 : 409);
    }

    private static byte[] response(int status, @Nullable String contentType, @Nullable String body) {
        Headers headers = contentType == null ? Headers.none() : Headers.of("Content-Type", contentType);
        byte[] bytes = body == null ? new byte[0] : body.getBytes(StandardCharsets.UTF_8);
        return StoredResponse.of(new HttpAnswer(status, headers, bytes)).encode();
    }

    /** Evicts a settled entry, so that its key can be used again. */
    @DeleteOperation
    public Map<String, Object> evict(
            SecurityContext security,
            String tenant,
            String key,
            @Nullable String scope,
            @Nullable String operation,
            String reason) {
        Key id = valid(() -> key(tenant, scope, operation, key));
        return Map.of("evicted", valid(() -> once.operator().evict(id, who(security), given(reason))));
    }

    static String who(SecurityContext security) {
        return security.getPrincipal() == null
                ? "actuator"
                : security.getPrincipal().getName();
    }
}
