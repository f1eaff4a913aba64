package dev.onlyonce.http;

/** The headers of OASIS Repeatable Requests 1.0, which the profile {@code oasis} follows. */
final class Repeatability {
    /** The key. */
    static final String REQUEST_ID = "Repeatability-Request-ID";
    /** When the client made the request; the same on every retry. */
    static final String FIRST_SENT = "Repeatability-First-Sent";
    /** The client's instance: a request of another one is another request. */
    static final String CLIENT_ID = "Repeatability-Client-ID";
    /** Whether the server has taken the request on, now or before. */
    static final String RESULT = "Repeatability-Result";

    private Repeatability() {}

    /** What an answer says: {@code accepted} stays true for a request that runs, or whose outcome is not known. */
    static HttpAnswer marked(HttpAnswer answer, boolean accepted) {
        return answer.header(RESULT, accepted ? "accepted" : "rejected");
    }

    /** Whether a request with this problem was taken on. */
    static boolean isAccepted(Problem problem) {
        return switch (problem) {
            case IN_PROGRESS,
                    OUTCOME_UNKNOWN,
                    RESPONSE_NOT_STORED,
                    PENDING_EXPIRED,
                    OPERATION_FAILED,
                    HANDLER_FAILED,
                    UPSTREAM_UNREACHABLE,
                    NOT_RECORDED -> true;
            default -> false;
        };
    }

    /** Whether a client asks for what another profile does not do: it believes that a retry is safe. */
    static boolean isMissing(Profile profile, Headers headers) {
        return !profile.isOasis() && headers.has(REQUEST_ID) && !headers.has(KeyHeader.NAME);
    }
}
