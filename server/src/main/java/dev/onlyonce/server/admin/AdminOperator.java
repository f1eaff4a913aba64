package dev.onlyonce.server.admin;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Everything that an operator can do, in one place: the admin API offers it, the command line uses it, on a running gateway
 * through that API or directly on a database. All methods block. They throw {@link Refused} for what cannot be done, and
 * {@link dev.onlyonce.store.StoreException} when the store cannot be reached.
 */
public interface AdminOperator extends AutoCloseable {

    /** Entries in the order of their ids. */
    Page keys(KeyFilter filter);

    /** One entry with its response and its history. */
    Optional<KeyView> key(KeyName name);

    /** What the audit has about a key, also when its entry is gone; oldest first. */
    History history(KeyName name);

    /** Settles an unknown entry with what was found out about it. */
    KeyView resolve(KeyName name, Finding finding);

    /** Forgets a settled entry, so that its key runs as new. */
    void evict(KeyName name, String reason);

    /** The entries whose outcome is unknown, and what is done about them. */
    Backlog reconcileList(int limit);

    /** Asks about all unknown entries now. */
    ReconcileRun reconcileRun();

    /** Dead letters of the outbox, in the order of their ids. */
    DeadLetters outboxList(long after, int limit);

    /** Gives a dead letter all its tries again. */
    void outboxRetry(long id, String reason);

    /** Forgets a dead letter; its entry stays as it is. */
    void outboxDrop(long id, String reason);

    /** Where the tables stand. */
    SchemaView schemaStatus();

    /** Creates or upgrades the tables. */
    SchemaView schemaApply();

    /** Numbers. */
    Stats stats();

    @Override
    void close();

    /** It cannot be done; the message says why. */
    final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final boolean absent;

        /** With what to tell the operator. */
        public Refused(boolean absent, String message) {
            super(message, null, false, false);
            this.absent = absent;
        }

        /** Whether there is no such entry, rather than one in another state. */
        public boolean isAbsent() {
            return absent;
        }
    }

    /**
     * Which entry.
     *
     * @param operation only for keys that are unique in their operation
     */
    record KeyName(String tenant, String key, @Nullable String operation) {
        /** Checks that what came from outside is whole. */
        public KeyName {
            requireNonNull(tenant, "tenant is missing");
            requireNonNull(key, "key is missing");
        }
    }

    /**
     * Which entries; empty parts do not restrict.
     *
     * @param olderThan first claimed at least this long ago, e.g. {@code 10m}
     * @param after continue after the entry with this cursor
     */
    record KeyFilter(
            @Nullable String tenant,
            @Nullable String operation,
            @Nullable String state,
            @Nullable String olderThan,
            @Nullable String after,
            int limit) {}

    /**
     * Some entries.
     *
     * @param next where to continue; none at the end
     */
    record Page(List<KeyView> keys, @Nullable String next) {}

    /**
     * An entry, as operators see it. Times are the store's clock.
     *
     * @param target method and path of its first request; none if they are not known
     */
    record KeyView(
            String tenant,
            String key,
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
            @Nullable ResponseView response,
            @Nullable List<Change> history) {}

    /** What the audit has about a key. */
    record History(List<Change> changes) {}

    /**
     * A change of state. Times are the store's clock.
     *
     * @param from none for a new entry
     * @param to none for one that was deleted
     */
    record Change(
            String at,
            int attempt,
            @Nullable String from,
            @Nullable String to,
            String who,
            String why) {}

    /**
     * A recorded response.
     *
     * @param body as text; none if it was not stored
     */
    record ResponseView(
            int status,
            Map<String, List<String>> headers,
            @Nullable String body,
            int bodyBytes) {}

    /**
     * What became of an unknown entry.
     *
     * @param outcome {@code found}: the effect happened; {@code absent}: it is proven that it did not
     * @param response what retries are answered with, if it was found and that is known
     * @param reason why, for the audit
     * @param attempt which attempt this is about; must be said of what is absent, because news about an attempt may come
     *     when the next one runs
     */
    record Finding(
            String outcome,
            @Nullable Answer response,
            String reason,
            @Nullable Integer attempt) {
        /** Checks that what came from outside is whole. */
        public Finding {
            requireNonNull(outcome, "outcome is missing");
            requireNonNull(reason, "reason is missing");
        }
    }

    /** A response to record. */
    record Answer(
            int status,
            @Nullable Map<String, String> headers,
            @Nullable String body) {
        private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");
        private static final Pattern VALUE = Pattern.compile("[\\t\\x20-\\x7e\\x80-\\xff]*");

        /** Checks that it can be sent. */
        public Answer {
            if (status < 200 || status > 599) {
                throw new IllegalArgumentException("the status of a response is 200-599: " + status);
            }
            if (headers != null) {
                headers.forEach(Answer::check);
            }
        }

        private static void check(String name, @Nullable String value) {
            if (value == null
                    || !NAME.matcher(name).matches()
                    || !VALUE.matcher(value).matches()) {
                throw new IllegalArgumentException("the name or the value of this header cannot be sent: " + name);
            }
        }
    }

    /** What is unknown. */
    record Backlog(List<KeyView> unknown, List<String> operationsWithLookUp) {}

    /**
     * The result of one round of questions.
     *
     * @param withoutLookUp unknown keys, up to 1000, that nothing asks about: their operations have no look-up
     */
    record ReconcileRun(int asked, int found, int absent, int undecided, int withoutLookUp) {}

    /** Calls that were given up. */
    record DeadLetters(List<DeadLetter> letters) {}

    /** A call that was given up. */
    record DeadLetter(
            long id,
            String tenant,
            String key,
            String operation,
            String topic,
            int tries,
            String acceptedAt,
            @Nullable String providerId,
            @Nullable String lastError) {}

    /** Where the tables stand. */
    record SchemaView(String database, int installed, int known, boolean current) {}

    /**
     * Numbers.
     *
     * @param entries by state; at most {@code countedMax} are counted of each
     * @param gateway of the running gateway; empty offline
     */
    record Stats(Map<String, Integer> entries, int countedMax, Map<String, Number> gateway) {}
}
