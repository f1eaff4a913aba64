package dev.onlyonce.client;

import java.io.IOException;

/** Thrown by an interceptor for a call in doubt, because its HTTP client knows only answers and I/O errors. */
public final class CallInDoubt extends IOException {
    private static final long serialVersionUID = 1;

    private final transient CallResult.InDoubt result;

    /** With what happened in the message. */
    public CallInDoubt(CallResult.InDoubt result) {
        super(result.toString());
        this.result = result;
    }

    /** What happened. */
    public CallResult.InDoubt result() {
        return result;
    }

    /** The response of a call that is done or refused, for an HTTP client that does not tell them apart. */
    public static CallResponse responseOf(CallResult result) throws CallInDoubt {
        if (result instanceof CallResult.Done done) {
            return done.response();
        }
        if (result instanceof CallResult.Refused refused) {
            return refused.response();
        }
        throw new CallInDoubt((CallResult.InDoubt) result);
    }
}
