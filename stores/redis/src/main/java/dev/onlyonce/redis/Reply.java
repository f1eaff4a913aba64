package dev.onlyonce.redis;

import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRefused;
import dev.onlyonce.store.StoreUnavailable;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.cluster.PartitionSelectorException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a {@link Request}.
 *
 * @param failure null if there are values; {@link StoreUnavailable} if the server changed nothing
 */
record Reply(List<Object> values, @Nullable StoreException failure) {
    /**
     * How the server's refusals begin. It checks all of this before a script makes its first change, and lets the script finish after
     * that. Any other error may have stopped a script half-way.
     */
    private static final Set<String> REFUSALS = Set.of(
            "ASK",
            "BUSY",
            "CLUSTERDOWN",
            "LOADING",
            "MASTERDOWN",
            "MISCONF",
            "MOVED",
            "NOAUTH",
            "NOPERM",
            "NOREPLICAS",
            "NOSCRIPT",
            "OOM",
            "READONLY",
            "TRYAGAIN");
    /** How a script refuses a partition that does not have the mark of the store, see {@link Marks}. */
    private static final String FORGOTTEN = "FORGOTTEN ";

    /** What a script says of a key of another type, and of an entry that it cannot read. */
    private static final List<String> ITEM_PROBLEMS =
            List.of("WRONGTYPE ", StoredEntry.FOREIGN, StoredEntry.UNREADABLE);

    /** Redis 6 wraps the error of a script's first command. */
    private static final Pattern CODE = Pattern.compile("^(?:ERR Error running script.*? -)?([A-Z]+) ");

    /** How the reason for a command that was not sent begins. */
    static final String NOT_SENT = "Currently not connected";

    /** How Lettuce says that it has not sent a command; it has no other way to tell. */
    private static final List<String> UNSENT = List.of(NOT_SENT, "Request queue size exceeded", "Unable to connect");

    static Reply of(List<Object> values) {
        return new Reply(values, null);
    }

    static Reply failed(Throwable cause) {
        String message = String.valueOf(cause.getMessage());
        if (message.startsWith(FORGOTTEN)) {
            return new Reply(List.of(), new StoreRefused("Redis refuses: " + message, cause));
        }
        return new Reply(
                List.of(),
                isUnchanged(cause, message)
                        ? new StoreUnavailable("Redis refuses: " + message, cause)
                        : new StoreOutcomeUnknown("Redis did not answer: " + message, cause));
    }

    /** The values, or {@link StoreUnavailable}: a read that fails changed nothing. */
    static List<Object> checkRead(Reply reply) {
        StoreException failure = reply.failure;
        if (failure != null) {
            throw new StoreUnavailable(String.valueOf(failure.getMessage()), failure);
        }
        return reply.values;
    }

    /** The failure of an item that the script could not do; null for an answer. It changed nothing, see {@code swap.lua}. */
    static @Nullable StoreException failure(@Nullable Object answer) {
        return answer instanceof List<?> parts && parts.size() == 2 && parts.get(0) instanceof byte[]
                ? new StoreUnavailable(
                        "Redis refuses: " + new String((byte[]) parts.get(1), StandardCharsets.UTF_8), null)
                : null;
    }

    /** Whether only this item was refused, whatever the server does with others: its entry, or a key of its partition, is no such thing. */
    static boolean isOfItem(StoreException failure) {
        String message = String.valueOf(failure.getMessage());
        return ITEM_PROBLEMS.stream().anyMatch(message::contains);
    }

    /** Whether a server has become a replica. */
    static boolean isFromReplica(StoreException failure) {
        return String.valueOf(failure.getMessage()).contains("READONLY ");
    }

    private static boolean isUnchanged(Throwable cause, String message) {
        if (cause instanceof RedisCommandExecutionException) {
            Matcher code = CODE.matcher(message);
            return code.find() && REFUSALS.contains(code.group(1));
        }
        return cause instanceof PartitionSelectorException || UNSENT.stream().anyMatch(message::startsWith);
    }
}
