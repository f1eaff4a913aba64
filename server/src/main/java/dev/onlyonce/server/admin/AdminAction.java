package dev.onlyonce.server.admin;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Everything that an operator can do: each is a request to the admin API and a command of the command line. */
public enum AdminAction {
    /** Lists keys. */
    KEYS_LIST("GET /v1/keys"),
    /** Shows a key with its response. */
    KEYS_SHOW("GET /v1/keys/show"),
    /** Shows who changed a key, when and why. */
    KEYS_HISTORY("GET /v1/keys/history"),
    /** Records what happened to an unknown key. */
    KEYS_RESOLVE("POST /v1/keys/resolve"),
    /** Forgets a settled key. */
    KEYS_EVICT("POST /v1/keys/evict"),
    /** Lists unknown keys. */
    RECONCILE_LIST("GET /v1/reconcile"),
    /** Asks about them now. */
    RECONCILE_RUN("POST /v1/reconcile/run"),
    /** Lists dead letters. */
    OUTBOX_LIST("GET /v1/outbox"),
    /** Gives a dead letter all its tries again. */
    OUTBOX_RETRY("POST /v1/outbox/retry"),
    /** Forgets a dead letter. */
    OUTBOX_DROP("POST /v1/outbox/drop"),
    /** Prints the schema. */
    SCHEMA_PRINT("GET /v1/schema/script"),
    /** Creates or upgrades the tables. */
    SCHEMA_APPLY("POST /v1/schema/apply"),
    /** Says where the tables stand. */
    SCHEMA_STATUS("GET /v1/schema"),
    /** Counts. */
    STATS("GET /v1/stats");

    private static final Map<String, AdminAction> BY_ROUTE =
            Arrays.stream(values()).collect(Collectors.toMap(AdminAction::route, Function.identity()));

    private final String route;

    AdminAction(String route) {
        this.route = route;
    }

    /** What a request asks for, e.g. {@code GET} and {@code /v1/keys}. */
    static Optional<AdminAction> of(String method, String path) {
        return Optional.ofNullable(BY_ROUTE.get(method + " " + path));
    }

    /** Method and path of the request, e.g. {@code GET /v1/keys}. */
    public String route() {
        return route;
    }

    /** The path of the request. */
    String path() {
        return route.substring(route.indexOf(' ') + 1);
    }

    /** The words of the command, e.g. {@code keys list}. */
    public String command() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
