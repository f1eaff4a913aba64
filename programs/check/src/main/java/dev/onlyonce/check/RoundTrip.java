package dev.onlyonce.check;

import com.fasterxml.jackson.databind.JsonNode;
import dev.onlyonce.check.wire.RawAnswer;
import dev.onlyonce.check.wire.RawRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A request and its answer.
 *
 * @param answer null if none came
 * @param trouble why none came; empty otherwise
 */
public record RoundTrip(RawRequest request, @Nullable RawAnswer answer, String trouble) {
    private static final Pattern MARK = Pattern.compile("(?i)(x-)?idempoten(t|cy)-replay(ed)?");

    private static final Pattern IN_DOUBT = Pattern.compile("(?i)unknown|in doubt|indeterminate");

    /** The status; 0 if no answer came. */
    public int status() {
        return answer == null ? 0 : answer.status();
    }

    /** Whether it worked; a 202 with Retry-After only says that something else is still at work. */
    boolean isSuccess() {
        return status() / 100 == 2 && !isRunning();
    }

    /** Whether the same request should be sent again later. */
    boolean isRunning() {
        return status() == 409 || status() == 425 || (status() == 202 && header("Retry-After") != null);
    }

    /** How long it asks to wait; a date counts as a second. */
    Duration retryAfter() {
        String value = header("Retry-After");
        if (value == null) {
            return Duration.ZERO;
        }
        return value.matches("\\d{1,6}") ? Duration.ofSeconds(Long.parseLong(value)) : Duration.ofSeconds(1);
    }

    /** Whether it says that nobody knows whether the first request had its effect. */
    boolean isInDoubt() {
        return isRunning() && IN_DOUBT.matcher(text()).find();
    }

    /** Whether the request was refused because of its key or of what it is. */
    boolean isRefused() {
        return switch (status()) {
            case 400, 409, 410, 412, 422 -> true;
            default -> false;
        };
    }

    boolean isClientError() {
        return status() / 100 == 4;
    }

    /** Whether the endpoint is not there, or not for this caller. */
    boolean isElsewhere() {
        return switch (status()) {
            case 401, 403, 404, 405, 501 -> true;
            default -> false;
        };
    }

    /** Whether the answer says that it is a replay. */
    boolean isMarked() {
        return answer != null
                && answer.headers().stream()
                        .anyMatch(line -> MARK.matcher(line.name()).matches()
                                && line.value().equalsIgnoreCase("true"));
    }

    @Nullable
    String header(String name) {
        return answer == null ? null : answer.header(name);
    }

    /** Whether both worked and tell of the same effect; whether a replay is exact is the matter of one check alone. */
    boolean sameEffect(RoundTrip other) {
        return isSuccess() && other.isSuccess() && identity().equals(other.identity());
    }

    boolean sameAnswer(RoundTrip other) {
        return status() == other.status() && text().equals(other.text());
    }

    String text() {
        return answer == null ? "" : new String(answer.body(), StandardCharsets.ISO_8859_1);
    }

    /** What tells one effect from another: the id in the answer, or its Location, or the whole body. */
    String identity() {
        JsonNode json = answer == null ? null : Json.parse(answer.body());
        JsonNode id = json == null ? null : json.get("id");
        if (id != null && id.isValueNode()) {
            return "id " + id.asText();
        }
        return header("Location") + " " + text();
    }

    /** In a few words. */
    String brief() {
        if (answer == null) {
            return "no answer (" + trouble + ")";
        }
        return status() + (isMarked() ? ", marked as a replay" : "");
    }

    /** The answer, for people. */
    public String shownAnswer() {
        return answer == null ? "no answer: " + trouble : answer.shown();
    }
}
