package dev.onlyonce.http.admin;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Everything that an operator can do, in one place: the admin API offers it, the command line uses it, on a running program
 * through that API or directly on a database. All methods block. They throw {@link Refused} for what cannot be done, and
 * {@link dev.onlyonce.store.StoreException} when the store cannot be reached.
 */
public interface AdminOperator extends AutoCloseable {

    /** The node and the store at a glance. */
    Overview overview();

    /** This node's last hour, from the step that contains {@code since}, in seconds since 1970. */
    Series series(long since);

    /** Entries in the order of their ids. */
    Page keys(KeyFilter filter);

    /** One entry with its response and its history. */
    Optional<KeyView> key(KeyName name);

    /** What the audit has about a key, also when its entry is gone; oldest first. */
    History history(KeyName name);

    /** Whether a request would match the one that the key was used for. */
    Matching match(KeyName name, Matching.Sample request);

    /** Settles an unknown entry with what was found out about it. */
    KeyView resolve(KeyName name, Finding finding);

    /** Writes a note into the history of an unknown entry, for those who look next. */
    KeyView note(KeyName name, String text);

    /** Forgets a settled entry, so that its key runs as new. */
    void evict(KeyName name, String reason);

    /** The entries whose outcome is unknown, and what is done about them. */
    Backlog reconcileList(KeyFilter filter);

    /** Asks about all unknown entries now, or about one. */
    ReconcileRun reconcileRun(@Nullable KeyName name);

    /** Settles several unknown entries, each at the attempt that was listed. */
    Resolved reconcileResolve(List<AtAttempt> keys, Finding finding);

    /** Dead letters of the outbox, in the order of their ids. */
    DeadLetters outboxList(long after, int limit);

    /** One dead letter with its payload. */
    DeadLetter outboxShow(long id);

    /** One of the messages that consumers on this node have given up last, with its payload. */
    GivenUpMessage outboxMessage(long id);

    /** Gives a dead letter all its tries again. */
    void outboxRetry(long id, String reason);

    /** Forgets a dead letter; its entry stays as it is. */
    void outboxDrop(long id, String reason);

    /** The operations, and what is not protected. */
    Operations operations();

    /** The tenants that this node has most to do with. */
    TopTenants tenants(int limit);

    /** Where the tables stand. */
    SchemaView schemaStatus();

    /** Creates or upgrades the tables. */
    SchemaView schemaApply();

    /** The script that creates the tables. */
    String schemaScript(String database);

    /** Accepts that the store is empty, or another one than before: keys from before are forgotten. */
    void storeAccept(String reason);

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
     * Which entry: by its reference, or by its tenant and key.
     *
     * @param ref as a listing gave it
     * @param operation only for keys that are unique in their operation
     */
    record KeyName(
            @Nullable String tenant,
            @Nullable String key,
            @Nullable String operation,
            @Nullable String ref) {
        /** Checks that what came from outside is whole. */
        public KeyName {
            if (ref == null) {
                requireNonNull(tenant, "tenant is missing");
                requireNonNull(key, "key is missing");
            }
        }

        /** By tenant and key. */
        public KeyName(String tenant, String key, @Nullable String operation) {
            this(tenant, key, operation, null);
        }
    }

    /** An unknown entry, at the attempt that was listed. */
    record AtAttempt(
            @Nullable String tenant,
            @Nullable String key,
            @Nullable String operation,
            @Nullable String ref,
            @Nullable Integer attempt) {
        /** Checks that what came from outside is whole. */
        public AtAttempt {
            requireNonNull(attempt, "attempt is missing");
        }

        KeyName name() {
            return new KeyName(tenant, key, operation, ref);
        }
    }

    /**
     * Which entries; empty parts do not restrict.
     *
     * @param olderThan first claimed at least this long ago, e.g. {@code 10m}
     * @param newerThan first claimed at most this long ago
     * @param node last claimed by this node
     * @param prefix the beginning of the key; only with a tenant
     * @param after continue after the entry with this reference
     */
    record KeyFilter(
            @Nullable String tenant,
            @Nullable String operation,
            @Nullable String state,
            @Nullable String olderThan,
            @Nullable String newerThan,
            @Nullable String node,
            @Nullable String prefix,
            @Nullable String after,
            int limit) {
        /** All of them. */
        public static KeyFilter all(int limit) {
            return new KeyFilter(null, null, null, null, null, null, null, null, limit);
        }

        /** The next page. */
        public KeyFilter after(@Nullable String next, int limitLeft) {
            return new KeyFilter(tenant, operation, state, olderThan, newerThan, node, prefix, next, limitLeft);
        }
    }

    /**
     * Some entries.
     *
     * @param next where to continue; none at the end
     * @param partial why there are fewer than asked for although there may be more
     */
    record Page(
            List<KeyView> keys,
            @Nullable String next,
            String now,
            @Nullable String partial) {}

    /** What the audit has about a key. */
    record History(List<KeyView.Change> changes) {}

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

        Finding at(@Nullable Integer another) {
            return new Finding(outcome, response, reason, another);
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

    /**
     * What is unknown.
     *
     * @param next where to continue; none at the end
     * @param order in which they are listed: {@code id}
     */
    record Backlog(
            List<KeyView> unknown,
            List<String> operationsWithLookUp,
            @Nullable String next,
            String now,
            String order,
            @Nullable String partial) {}

    /**
     * The result of one round of questions.
     *
     * @param withoutLookUp unknown keys, up to 1000, that nothing asks about: their operations have no look-up
     */
    record ReconcileRun(int asked, int found, int absent, int undecided, int withoutLookUp) {}

    /** What became of each key. */
    record Resolved(List<One> results) {
        /**
         * One key.
         *
         * @param detail why it was not done
         */
        public record One(
                String ref, boolean done, @Nullable String detail) {}
    }

    /**
     * Calls that were given up, and messages.
     *
     * @param next where to continue; none at the end
     * @param consumers messages that consumers have given up
     * @param messages the last of them, the latest first
     * @param consumersScope which of them were counted
     */
    record DeadLetters(
            List<DeadLetter> letters,
            @Nullable Long next,
            String now,
            List<ConsumerLetters> consumers,
            List<GivenUpMessage> messages,
            String consumersScope) {}

    /**
     * Messages that a consumer has given up. They are at the broker, among its dead letters: there they can be read and sent again.
     *
     * @param group the consumer's name
     * @param topic the topic or queue that they came from
     * @param reason as their dead letters say
     */
    record ConsumerLetters(String group, String topic, String reason, long count, String lastAt) {}

    /**
     * A message that a consumer has given up.
     *
     * @param id its number on this node
     * @param coordinates the broker's own name for it, unique within the topic
     * @param text the reason in words
     * @param at when, by this node's clock
     * @param payload as text; only when one message is shown
     * @param payloadBase64 if it is not text in UTF-8
     * @param cut whether only its beginning was kept
     * @param hidden why the payload is not shown
     */
    record GivenUpMessage(
            long id,
            String group,
            String topic,
            String coordinates,
            String reason,
            String text,
            int tries,
            String at,
            int payloadBytes,
            @Nullable String payload,
            @Nullable String payloadBase64,
            @Nullable Boolean cut,
            @Nullable String hidden) {}

    /**
     * A call that was given up.
     *
     * @param payloadBytes how large its payload is; only when one letter is shown
     * @param payload as text; only when one letter is shown
     * @param payloadBase64 if it is not text in UTF-8
     * @param hidden why the payload is not shown
     */
    record DeadLetter(
            long id,
            String ref,
            String tenant,
            String key,
            String operation,
            String topic,
            int tries,
            String acceptedAt,
            @Nullable String providerId,
            @Nullable String lastError,
            @Nullable Integer payloadBytes,
            @Nullable String payload,
            @Nullable String payloadBase64,
            @Nullable String hidden) {}

    /** Where the tables stand. */
    record SchemaView(String database, int installed, int known, boolean current) {}

    /**
     * Numbers.
     *
     * @param entries by state
     * @param kind how far to trust them: {@code exact}, {@code atLeast} or {@code estimate}
     * @param gateway of the running program; empty offline
     */
    record Stats(Map<String, Long> entries, String kind, Map<String, Number> gateway) {}
}
