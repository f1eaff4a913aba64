package dev.onlyonce.spring.transactions;

import dev.onlyonce.Codec;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.spring.operations.KeyedCall;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.steps.Flow;
import dev.onlyonce.sql.steps.Steps;
import org.jspecify.annotations.Nullable;

/** Runs methods in steps; a retry resumes after the last finished step. */
public final class SteppedWay {
    private final @Nullable Steps stepped;

    SteppedWay(Onlyonce once) {
        stepped = once.registry().store() instanceof SqlStore ? Steps.of(once) : null;
    }

    /** Whether the store can record steps. */
    boolean isPossible() {
        return stepped != null;
    }

    /** Runs a method of a bean. */
    public <T> Outcome<T> execute(KeyedCall asked, Codec<T> codec, Flow<T, Exception> flow) throws Exception {
        if (stepped == null) {
            throw new IllegalStateException("the store cannot record steps");
        }
        return stepped.execute(asked.key(), asked.fingerprint(), codec, flow);
    }
}
