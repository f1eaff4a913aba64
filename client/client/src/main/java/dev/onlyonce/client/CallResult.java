package dev.onlyonce.client;

import java.util.List;

/** The outcome of a call. {@code toString} explains each attempt. */
public sealed interface CallResult {
    /** The business id. */
    String id();

    /** What was tried; empty if the journal had the answer. */
    List<Attempt> attempts();

    /** Calls the method for this case. */
    <R> R accept(Visitor<R> visitor);

    /**
     * The response of a call that is done.
     *
     * @throws CallFailed if it was refused or is in doubt
     */
    default CallResponse orElseThrow() {
        throw new CallFailed(this);
    }

    /**
     * It took effect.
     *
     * @param response the answer; {@code response_not_stored} if only that is known
     * @param isReplayed whether an earlier attempt did it and the answer was recorded, as far as the server says
     */
    record Done(String id, CallResponse response, boolean isReplayed, List<Attempt> attempts) implements CallResult {
        @Override
        public <R> R accept(Visitor<R> visitor) {
            return visitor.done(this);
        }

        @Override
        public CallResponse orElseThrow() {
            return response;
        }

        @Override
        public String toString() {
            return explain(id + " is done: " + response + (isReplayed ? ", replayed" : ""), attempts);
        }
    }

    /**
     * It was refused for good; according to the server it had no effect. The journal has closed it.
     *
     * @param response the refusal
     * @param reason what it means
     */
    record Refused(String id, CallResponse response, String reason, List<Attempt> attempts) implements CallResult {
        @Override
        public <R> R accept(Visitor<R> visitor) {
            return visitor.refused(this);
        }

        @Override
        public String toString() {
            return explain(id + " was refused: " + response + ", " + reason, attempts);
        }
    }

    /**
     * There is no definitive answer yet. The journal keeps the key and the request; {@link RetryingClient#resume(String)} continues with
     * both.
     *
     * @param reason why the client stopped
     * @param mayHaveHappened false if no attempt can have had an effect
     */
    record InDoubt(String id, Reason reason, boolean mayHaveHappened, List<Attempt> attempts) implements CallResult {
        @Override
        public <R> R accept(Visitor<R> visitor) {
            return visitor.inDoubt(this);
        }

        @Override
        public String toString() {
            return explain(
                    id + " is in doubt: " + reason.text + ". "
                            + (mayHaveHappened ? "It may have taken effect." : "It has not taken effect.")
                            + " The key is kept; " + reason.advice + ".",
                    attempts);
        }
    }

    /** Why the client stopped without a definitive answer. */
    enum Reason {
        /** The time for the call is over, or the server asks to wait beyond it. */
        DEADLINE("the deadline has passed", Advice.RESUME),
        /** All attempts were used. */
        ATTEMPTS("all attempts were used", Advice.RESUME),
        /** Too few calls succeed at present for more retries. */
        BUDGET("the retry budget is used up, because too few calls succeed", Advice.RESUME),
        /** A failure without an answer, from a server that does not honour keys. */
        NOT_REPEATABLE("the server does not honour keys, so a retry could repeat the effect", Advice.ASK),
        /** The server has forgotten the key, or may have: a retry could run as a new request. */
        KEY_EXPIRED(
                "the key may be older than the server remembers, or the clock was set back, so a retry could repeat the effect",
                Advice.ASK),
        /** An earlier attempt, or another sender, may have had an effect, and the refusal does not show that the key was looked up. */
        NOT_TAKEN(
                "the request is refused now, which says nothing about an earlier attempt",
                "correct what is refused (credentials, the address) and resume, or " + Advice.ASK),
        /** A redirect to another page says neither that it took effect nor that it did not. */
        ELSEWHERE("the server redirects to another page, which does not say what happened", Advice.ASK),
        /** The server recorded an error of its own as the answer to this key. */
        RECORDED_ERROR("the server recorded an error of its own as the answer", Advice.ASK),
        /** The server says that the key was used for another request. Only in the result of {@link RetryingClient#resume()}. */
        KEY_REUSED("the server says that the key was used for another request, which is a bug", Advice.ASK),
        /**
         * The journal cannot read or write the call, so nothing was sent now. Only in the result of {@link RetryingClient#resume()};
         * {@link CallListener#journalFailed} says what is wrong.
         */
        JOURNAL(
                "the journal cannot read or write the call, so nothing was sent now",
                "restore the journal from a copy and resume, or " + Advice.ASK),
        /** The file with the body is not what it was. */
        BODY_CHANGED("the file with the body has changed or is gone", "put the same bytes back, then resume");

        private final String text;
        private final String advice;

        Reason(String text, String advice) {
            this.text = text;
            this.advice = advice;
        }

        private static final class Advice {
            private static final String RESUME = "resume the id later";
            private static final String ASK = "find out at the server what happened, then forget the id";
        }
    }

    /** One method for each case. */
    interface Visitor<R> {
        /** It took effect. */
        R done(Done done);

        /** It was refused. */
        R refused(Refused refused);

        /** There is no definitive answer yet. */
        R inDoubt(InDoubt inDoubt);
    }

    private static String explain(String first, List<Attempt> attempts) {
        StringBuilder text = new StringBuilder(first);
        if (attempts.isEmpty()) {
            return text.append("\n  nothing was sent").toString();
        }
        int number = 1;
        for (Attempt attempt : attempts) {
            text.append("\n  ").append(number++).append(". ").append(attempt);
        }
        return text.toString();
    }
}
