package dev.onlyonce.spring;

import dev.onlyonce.Scope;
import dev.onlyonce.sql.SchemaMode;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.OnLeaseLost;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

/**
 * The configuration. A name that is none of these is refused: a setting that was misspelt must not pass for one that was made.
 *
 * @param enabled Whether anything is configured at all.
 * @param node This node's name in the entries, for operators. Host and process id by default: host:pid.
 * @param profile How operations behave towards clients: ietf, stripe, strict or oasis.
 * @param lease How long a claim holds without a heartbeat.
 * @param heldMax How long a claim may be held before it is settled; then heartbeats stop. One hour, or the lease if longer.
 * @param callMax The longest time from an owner's last look at its lease until its effect has happened or cannot happen any more:
 *     time-outs, queues, and the longest pause of a node.
 * @param onLeaseLost The next state of an entry whose owner died.
 * @param retention How long retries are answered, counted from settling.
 * @param tombstone How long after that a key is remembered and refused with 410.
 * @param waitMax How long a duplicate waits for the running request before it gets 409 or 202. With the profile
 *     dev, development, local or test, and nothing said, 2s.
 * @param resultBytesMax The largest response that is stored; larger ones are sent but not replayed.
 * @param bodyBytesMax The largest request body of a protected operation.
 * @param refusePersonalKeys Whether keys that look like e-mail addresses, telephone or card numbers are refused.
 * @param anonymousTenant The tenant of requests without authentication. Without it they are refused with 401.
 * @param anonymousCredentials What tells callers without authentication apart: headers, or cookie:NAME. By default Authorization,
 *     Cookie and the usual headers of API keys; empty for not compared.
 * @param tenant The tenant of bean methods that name none.
 * @param statusPath Where clients ask for the status of a key.
 * @param filterOrder Where the filter stands; after Spring Security, whose filter is at -100.
 * @param coverage What to do about POST and PATCH handlers, and listeners of messages, that are not protected.
 * @param store Where entries are kept.
 * @param cache A cache in Redis that all nodes on one store share.
 * @param outbox How queued calls are delivered.
 * @param messages What holds for listeners of messages.
 * @param encryption How results are encrypted where they are kept.
 * @param limits What one tenant may do on this node.
 * @param console The operators' console in this application.
 * @param operations Settings of single operations, by name.
 */
@ConfigurationProperties(prefix = "onlyonce", ignoreUnknownFields = false)
public record OnlyonceProperties(
        @DefaultValue("true") boolean enabled,
        @Nullable String node,
        @DefaultValue("ietf") String profile,
        @DefaultValue("30s") Duration lease,
        @Nullable Duration heldMax,
        @DefaultValue("1m") Duration callMax,
        @DefaultValue("unknown") OnLeaseLost onLeaseLost,
        @DefaultValue("24h") Duration retention,
        @DefaultValue("0s") Duration tombstone,
        @DefaultValue("0s") Duration waitMax,
        @DefaultValue("1048576") int resultBytesMax,
        @DefaultValue("1048576") int bodyBytesMax,
        @DefaultValue("false") boolean refusePersonalKeys,
        @Nullable String anonymousTenant,
        @Nullable List<String> anonymousCredentials,
        @DefaultValue("application") String tenant,
        @DefaultValue("/.well-known/idempotency/status") String statusPath,
        @DefaultValue("-90") int filterOrder,
        @DefaultValue("report") Coverage.Mode coverage,
        @DefaultValue StoreSettings store,
        @DefaultValue CacheSettings cache,
        @DefaultValue OutboxSettings outbox,
        @DefaultValue MessageSettings messages,
        @DefaultValue EncryptionSettings encryption,
        @DefaultValue Limits limits,
        @DefaultValue ConsoleSettings console,
        @DefaultValue Map<String, OperationSettings> operations) {
    /** Where the console is unless configured. */
    public static final String CONSOLE_PATH = "/onlyonce";

    /**
     * Where entries are kept.
     *
     * @param memory Whether entries are kept in this process's memory and end with it: for tests. Short: onlyonce.store=memory.
     * @param redis Whether entries are kept in the Redis that spring.data.redis describes. Short: onlyonce.store=redis.
     * @param dynamodb Whether entries are kept in the DynamoDB that spring.cloud.aws describes, in the table onlyonce. Short:
     *     onlyonce.store=dynamodb.
     * @param cassandra Whether entries are kept in the Cassandra that spring.cassandra describes. Short: onlyonce.store=cassandra.
     * @param sqlite A SQLite file to use instead of the application's DataSource.
     * @param url Where entries are instead of the application's DataSource: a JDBC URL, or one like redis://127.0.0.1:6379, whose module
     *     must be on the class path.
     * @param user The user for onlyonce.store.url, unless the URL has one.
     * @param password The password for onlyonce.store.url, unless the URL has one.
     * @param schema Whether tables are created, only checked, or left alone.
     * @param sweepEvery How often lapsed leases are swept.
     * @param purgeEvery How often expired entries are removed.
     * @param waitMax How long a request waits for the store before it gets 503.
     * @param cacheBytesMax How much memory replays may take; 0 for none.
     * @param audit What the audit keeps of requests that were executed without trouble, once their entries are gone: all, or
     *     nothing of them with exceptions.
     * @param auditRetention How long audit records are kept; the shortest time of all nodes counts.
     */
    public record StoreSettings(
            @DefaultValue("false") boolean memory,
            @DefaultValue("false") boolean redis,
            @DefaultValue("false") boolean dynamodb,
            @DefaultValue("false") boolean cassandra,
            @Nullable String sqlite,
            @Nullable String url,
            @Nullable String user,
            @Nullable String password,
            @DefaultValue("create") SchemaMode schema,
            @DefaultValue("1s") Duration sweepEvery,
            @DefaultValue("1m") Duration purgeEvery,
            @DefaultValue("5s") Duration waitMax,
            @DefaultValue("33554432") long cacheBytesMax,
            @DefaultValue("all") AuditLevel audit,
            @DefaultValue("400d") Duration auditRetention) {

        /** The values of {@code onlyonce.store}. */
        private static final Set<String> KINDS = Set.of("memory", "redis", "dynamodb", "cassandra");

        /** What {@code onlyonce.store=memory} and the like mean; the binder calls this. */
        public static StoreSettings of(String kind) {
            String name = kind.toLowerCase(Locale.ROOT);
            if (!KINDS.contains(name)) {
                throw new IllegalArgumentException(
                        "onlyonce.store takes the values memory, redis, dynamodb and cassandra only, and not \"" + kind
                                + "\". The database of the application's DataSource (PostgreSQL, MySQL, MariaDB, H2)"
                                + " is used without a setting: remove this one; for a SQLite file set"
                                + " onlyonce.store.sqlite");
            }
            return new Binder(new MapConfigurationPropertySource(Map.of("store." + name, "true")))
                    .bind("store", StoreSettings.class)
                    .get();
        }
    }

    /**
     * A cache in Redis that all nodes on one store share; none without a URL.
     *
     * @param url Where it is, like redis://127.0.0.1:6379. The module onlyonce-redis must be on the class path.
     * @param name Names the store that is cached: the same on all nodes of the store, and another for every other store.
     * @param secret At least 32 characters that all nodes share; not needed with onlyonce.encryption.
     */
    public record CacheSettings(
            @Nullable String url,
            @Nullable String name,
            @Nullable String secret) {
        /** Without the secret. */
        @Override
        public String toString() {
            return "CacheSettings[name=" + name + "]";
        }
    }

    /**
     * How queued calls are delivered.
     *
     * @param pendingMax How long an accepted operation may wait for its first worker before it fails with 408.
     * @param triesMax How often a call is tried before it is given up.
     * @param backoffFirst The pause after the first failure; it doubles with every try.
     * @param backoffLongest The longest pause between two tries.
     * @param parkFor How often a dead letter is looked at, to see whether its entry has been resolved.
     * @param concurrency How many calls this node makes at once. Half of them are divided among the topics.
     * @param rowsMax How many calls this node has in hand at most. Half of them are divided among the topics.
     * @param pollEvery How often an idle node looks for calls.
     * @param closeWaitMax How long the shutdown waits for calls that have not returned.
     * @param payloadBytesMax The largest payload that is accepted.
     */
    public record OutboxSettings(
            @DefaultValue("1h") Duration pendingMax,
            @DefaultValue("10") int triesMax,
            @DefaultValue("1s") Duration backoffFirst,
            @DefaultValue("5m") Duration backoffLongest,
            @DefaultValue("30s") Duration parkFor,
            @DefaultValue("32") int concurrency,
            @DefaultValue("1000") int rowsMax,
            @DefaultValue("100ms") Duration pollEvery,
            @DefaultValue("30s") Duration closeWaitMax,
            @DefaultValue("1048576") int payloadBytesMax) {}

    /**
     * What holds for listeners of messages that are {@link Idempotent} and name no key.
     *
     * @param id Where ids come from, in this order: cloud-event, header:name, json:/pointer, coordinates.
     * @param retention How long ids are remembered: longer than any broker goes on delivering.
     * @param waitMax How long a message waits while somebody else is applying it, before it is delivered again.
     * @param handlerMax How long a listener may take for a message before it is interrupted.
     */
    public record MessageSettings(
            @DefaultValue({"cloud-event", "header:message-id"})
            List<String> id,

            @DefaultValue("30d") Duration retention,
            @DefaultValue("10s") Duration waitMax,
            @DefaultValue("1m") Duration handlerMax) {}

    /**
     * How results are encrypted where they are kept; not at all without a current key.
     *
     * @param current The id of the key that new results are sealed with.
     * @param keys Keys by their id, a number: 16 or 32 random bytes in Base64. Keep old ones until their results expire.
     */
    public record EncryptionSettings(
            @Nullable Integer current, @DefaultValue Map<Integer, String> keys) {

        /** The ids only: settings get printed. */
        @Override
        public String toString() {
            return "EncryptionSettings[current=" + current + ", keys=" + keys.keySet() + "]";
        }
    }

    /**
     * What one tenant may do on this node; 0 for no limit.
     *
     * @param newKeysPerSecond New keys a second, and as many at once after a pause.
     * @param liveMax Requests being executed at once.
     * @param storedMax Entries that the store holds for the tenant: running, settled and tombstones; for all nodes together.
     * @param lookUpsPerSecond Status look-ups a second, and as many at once after a pause.
     */
    public record Limits(
            @DefaultValue("0") int newKeysPerSecond,
            @DefaultValue("0") int liveMax,
            @DefaultValue("0") int storedMax,
            @DefaultValue("0") int lookUpsPerSecond) {}

    /**
     * The operators' console in this application, behind its own security.
     *
     * @param enabled Whether there is one.
     * @param path Where it is within the application.
     * @param operatorRole The role of users who may change things.
     * @param readerRole The role of users who may only look.
     * @param readersSeeKeys Whether those who may only look see keys whole.
     * @param payloads Who sees stored responses and the payloads of calls: operators, everybody or nobody.
     * @param home A page that the console leads back to: the one of a demo.
     */
    public record ConsoleSettings(
            @DefaultValue("false") boolean enabled,
            @DefaultValue(CONSOLE_PATH) String path,
            @DefaultValue("ONLYONCE_OPERATOR") String operatorRole,
            @DefaultValue("ONLYONCE_READER") String readerRole,
            @DefaultValue("false") boolean readersSeeKeys,
            @DefaultValue("operators") Payloads payloads,
            @Nullable String home) {}

    /** Who sees stored responses and the payloads of calls. */
    public enum Payloads {
        /** Those with the operator's role. */
        OPERATORS,
        /** Those with the reader's role too. */
        EVERYBODY,
        /** Nobody. */
        NOBODY
    }

    /**
     * What differs for one operation.
     *
     * @param profile ietf, stripe, strict or oasis.
     * @param formerly Names that the operation had, so that retries of older keys are not refused.
     * @param scope Whether its keys are unique in the tenant or in the operation.
     * @param keyRequired Whether a request without a key is refused.
     * @param keyFormat any, uuid, or the least number of characters.
     * @param refusePersonalKeys Whether keys that look like personal data are refused.
     * @param keyField The field of HTML forms that may have the key instead of the header.
     * @param lease How long a claim holds without a heartbeat.
     * @param heldMax How long a claim may be held before it is settled.
     * @param callMax The longest time until its effect has happened or cannot happen any more.
     * @param onLeaseLost The next state of an entry whose owner died.
     * @param retention How long retries are answered.
     * @param tombstone How long after that the key is remembered.
     * @param waitMax How long a duplicate waits for the running one.
     * @param whenRunning What a duplicate of a running request gets: conflict (409), or accepted (202 and a Location).
     * @param onServerError What a 5xx or an exception means: retry, retry-always, store or unknown.
     * @param resultBytesMax The largest response that is stored.
     * @param bodyBytesMax The largest request body.
     * @param fingerprintHeaders Headers that are part of the fingerprint.
     * @param ignoredMembers JSON pointers of body members that are not part of the fingerprint.
     * @param requestAge How old a request may be.
     */
    public record OperationSettings(
            @Nullable String profile,
            @DefaultValue List<String> formerly,
            @Nullable Scope scope,
            @Nullable Boolean keyRequired,
            @Nullable String keyFormat,
            @Nullable Boolean refusePersonalKeys,
            @Nullable String keyField,
            @Nullable Duration lease,
            @Nullable Duration heldMax,
            @Nullable Duration callMax,
            @Nullable OnLeaseLost onLeaseLost,
            @Nullable Duration retention,
            @Nullable Duration tombstone,
            @Nullable Duration waitMax,
            dev.onlyonce.http.@Nullable WhenRunning whenRunning,
            dev.onlyonce.http.@Nullable OnServerError onServerError,
            @Nullable Integer resultBytesMax,
            @Nullable Integer bodyBytesMax,
            @DefaultValue List<String> fingerprintHeaders,
            @DefaultValue List<String> ignoredMembers,
            @Nullable RequestAgeSettings requestAge) {

        /** Nothing differs. */
        public static OperationSettings none() {
            return new OperationSettings(
                    null, List.of(), null, null, null, null, null, null, null, null, null, null, null, null, null, null,
                    null, null, List.of(), List.of(), null);
        }
    }

    /**
     * How old a request may be.
     *
     * @param header The header that says when the client made the request.
     * @param max How old a request may be by that header; the retention of its operation by default.
     */
    public record RequestAgeSettings(
            String header, @Nullable Duration max) {}
}
