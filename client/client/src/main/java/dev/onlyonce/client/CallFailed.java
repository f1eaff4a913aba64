package dev.onlyonce.client;

/** A call was refused or is in doubt; {@link #result} says which. */
public final class CallFailed extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final transient CallResult result;

    CallFailed(CallResult result) {
        super(result.toString());
        this.result = result;
    }

    /** The refusal or the doubt. */
    public CallResult result() {
        return result;
    }
}
