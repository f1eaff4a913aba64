package dev.onlyonce.http.admin;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An entry, as operators see it. Times are the store's clock. What follows {@code expiresAt} is only there when one entry is shown.
 *
 * @param ref names it in requests, also for those who may not see the key
 * @param shortened whether the key is only shown in part
 * @param target method and path of its first request; none if they are not known
 * @param now the store's clock when it was read
 * @param retention how long it answers, counted from settling
 * @param actions what can be done about it now, by those who may
 */
public record KeyView(
        String ref,
        String tenant,
        String key,
        @Nullable Boolean shortened,
        String operation,
        @Nullable String target,
        String scope,
        String state,
        int attempt,
        String owner,
        String createdAt,
        @Nullable String leaseUntil,
        @Nullable String settledAt,
        @Nullable String expiresAt,
        @Nullable Reconcile reconcile,
        @Nullable String now,
        @Nullable FingerprintView fingerprint,
        @Nullable String retention,
        @Nullable Replays replays,
        @Nullable List<String> actions,
        @Nullable ResponseView response,
        @Nullable List<Change> history) {

    /**
     * What is known about an unknown entry on this node. Times are this node's clock.
     *
     * @param lookUp whether anybody asks about it
     * @param lastWord why the reconciler could not tell
     * @param note the last note that an operator left about this attempt, in the first keys of a listing
     */
    public record Reconcile(
            boolean lookUp,
            int tries,
            @Nullable String lastWord,
            @Nullable String lastAskedAt,
            @Nullable String nextTryAt,
            @Nullable Change note) {}

    /**
     * What identifies its first request.
     *
     * @param sealed whether a secret went into it
     */
    public record FingerprintView(String algorithm, String digest, boolean sealed) {}

    /**
     * How often this node replayed it.
     *
     * @param scope what was counted
     */
    public record Replays(long count, @Nullable String lastAt, String scope) {}

    /**
     * A change of state. Times are the store's clock.
     *
     * @param from none for a new entry
     * @param to none for one that was deleted
     */
    public record Change(
            String at,
            int attempt,
            @Nullable String from,
            @Nullable String to,
            String who,
            String why) {}

    /**
     * A recorded response.
     *
     * @param body as text; none if it was not stored, is not text, or is hidden
     * @param bodyBase64 if it is not text in UTF-8
     * @param cut whether only the beginning of the body is shown
     * @param hidden why headers and body are not shown
     */
    public record ResponseView(
            int status,
            Map<String, List<String>> headers,
            @Nullable String body,
            @Nullable String bodyBase64,
            int bodyBytes,
            @Nullable Boolean cut,
            @Nullable String hidden) {}
}
