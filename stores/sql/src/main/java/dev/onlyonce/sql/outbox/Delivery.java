package dev.onlyonce.sql.outbox;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import org.jspecify.annotations.Nullable;

/** The outcome of a call to a provider. */
public sealed interface Delivery {

    /**
     * The provider did it.
     *
     * @param providerId the provider's name for it; recorded before anything else. Empty if it gives none
     * @param result the operation's result as its {@link dev.onlyonce.Codec} encodes it
     */
    record Delivered(@Nullable String providerId, byte[] result) implements Delivery {
        public Delivered {
            requireNonNull(result, "the result");
        }
    }

    /**
     * The provider refused it for good: that is the operation's result, and it is not tried again.
     *
     * @param providerId the provider's name for it, if it gave one
     * @param result the refusal as the operation's {@link dev.onlyonce.Codec} encodes it
     */
    record Refused(@Nullable String providerId, byte[] result) implements Delivery {
        public Refused {
            requireNonNull(result, "the result");
        }
    }

    /**
     * Proven: this call had no effect. It is made again later.
     *
     * @param why the proof
     */
    record NotExecuted(String why) implements Delivery {
        public NotExecuted {
            why = requireNonNullElse(why, "no reason given");
        }
    }

    /**
     * Nobody knows. It is asked again with the same downstream key for as long as the provider honours that; else it waits
     * for the reconciler or an operator.
     *
     * @param why what happened
     */
    record Ambiguous(String why) implements Delivery {
        public Ambiguous {
            why = requireNonNullElse(why, "no reason given");
        }
    }
}
