package dev.onlyonce.spring;

import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.sql.outbox.OutboxRow;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/**
 * For operators, at {@code /actuator/onlyonceoutbox}: shows what the outbox has to deliver, and tries or drops dead letters. Keys
 * are shown: expose it only behind authentication.
 */
@Endpoint(id = "onlyonceoutbox")
public class OutboxEndpoint {
    /** How many rows are counted at most: past that, nobody needs the exact number. */
    static final int COUNT_MAX = 10_000;

    private static final int LIMIT = 100;

    private final Outbox outbox;

    OutboxEndpoint(Outbox outbox) {
        this.outbox = outbox;
    }

    /**
     * How many calls wait, how many are dead letters, when the oldest was accepted, and 100 of the dead letters.
     *
     * @param after the id of the last dead letter that was shown before
     */
    @ReadOperation
    public Map<String, Object> backlog(@Nullable Long after) {
        Outbox.Backlog backlog = outbox.backlog(COUNT_MAX);
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("waiting", backlog.waiting());
        answer.put("dead", backlog.dead());
        backlog.oldestAt().ifPresent(at -> answer.put("oldestAt", at));
        answer.put(
                "deadLetters",
                outbox.listDead(after == null ? 0 : after, LIMIT).stream()
                        .map(OutboxEndpoint::describe)
                        .toList());
        return answer;
    }

    private static Map<String, Object> describe(OutboxRow row) {
        Map<String, Object> described = new LinkedHashMap<>();
        described.put("id", row.id());
        described.put("tenant", row.key().tenant());
        described.put("key", row.key().value());
        described.put("operation", row.key().operation());
        described.put("topic", row.topic());
        described.put("tries", row.tries());
        described.put("acceptedAt", row.acceptedAt());
        if (row.lastError() != null) {
            described.put("lastError", row.lastError());
        }
        return described;
    }

    /** Gives a dead letter all its tries again. */
    @WriteOperation
    public Map<String, Object> retry(SecurityContext security, long id, String reason) {
        return Map.of("retried", outbox.retry(id, OnlyonceEndpoint.who(security), given(reason)));
    }

    /** Drops a dead letter. Its entry stays as it is, for an operator to resolve. */
    @DeleteOperation
    public Map<String, Object> drop(SecurityContext security, long id, String reason) {
        return Map.of("dropped", outbox.drop(id, OnlyonceEndpoint.who(security), given(reason)));
    }

    private static String given(String reason) {
        if (reason.isBlank()) {
            throw new InvalidEndpointRequestException("say why, in reason", "say why, in reason");
        }
        return reason;
    }
}
