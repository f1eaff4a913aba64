package dev.onlyonce.http;

import dev.onlyonce.Ending;
import dev.onlyonce.FailureRule.Verdict;
import dev.onlyonce.Key;
import dev.onlyonce.http.Profile.Meaning;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How a status or an exception ends the claim of one operation: the profile and the policy's failure rule decide. */
final class Endings {
    /** For readers of the log whose handlers often end as unknown without need. */
    private static final String CHOICES = "If a failed handler has had no effect, say so: make it @Transactional, throw"
            + " NotExecuted, give its policy a FailureRule, or set on-server-error to retry-always.";

    private static final Logger log = LoggerFactory.getLogger(Endings.class);

    private final Operation operation;

    Endings(Operation operation) {
        this.operation = operation;
    }

    /** After an answer with this status; {@code record} encodes it. */
    Ending ofStatus(Key key, int status, Supplier<byte[]> record) {
        Meaning meaning = operation.profile().meaning(status);
        if (meaning == Meaning.UNKNOWN) {
            log.warn("{} answered {}, so its outcome is unknown until it is reconciled. {}", key, status, CHOICES);
        }
        return ending(meaning, "status " + status, record);
    }

    /** After this exception; {@code record} encodes what is answered for it. */
    Ending ofException(Key key, Throwable thrown, Supplier<byte[]> record) {
        Verdict verdict = judge(thrown);
        if (verdict instanceof Verdict.Final known) {
            return new Ending.Failed(known.failure());
        }
        String name = thrown.getClass().getName();
        Meaning meaning = verdict instanceof Verdict.NoEffect
                ? Meaning.RETRYABLE
                : operation.profile().meaningOfException();
        if (meaning == Meaning.UNKNOWN) {
            log.warn(
                    "{} threw {}, which proves nothing, so its outcome is unknown until it is reconciled. {}",
                    key,
                    name,
                    CHOICES);
        }
        return ending(meaning, name, record);
    }

    private static Ending ending(Meaning meaning, String reason, Supplier<byte[]> record) {
        return switch (meaning) {
            case STORED -> new Ending.Completed(record.get());
            case RETRYABLE -> new Ending.Retryable(reason);
            case UNKNOWN -> new Ending.Unknown(reason);
        };
    }

    /** Whether the answer to this exception is recorded like an answer of the handler. */
    boolean isAnswerRecorded(Throwable thrown) {
        return operation.profile().meaningOfException() == Meaning.STORED && judge(thrown) instanceof Verdict.Unknown;
    }

    /** Whether an answer with this status, made because the handler took too long, is recorded. */
    boolean isLateAnswerRecorded(int status) {
        return operation.profile().meaningAfterTimeout(status) == Meaning.STORED;
    }

    private Verdict judge(Throwable thrown) {
        try {
            return operation.policy().failures().judge(thrown);
        } catch (RuntimeException | Error broken) {
            log.error("The failure rule of {} broke, which proves nothing", operation.name(), broken);
            return new Verdict.Unknown();
        }
    }
}
