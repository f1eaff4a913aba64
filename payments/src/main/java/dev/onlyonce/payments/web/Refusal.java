package dev.onlyonce.payments.web;

import java.io.Serial;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;

/** An answer that says no, as problem details (RFC 9457) with a stable code. */
public final class Refusal extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private final HttpStatus status;
    private final String code;

    /** With what a program and what a person need to know. */
    public Refusal(HttpStatus status, String code, String message) {
        super(message);
        this.status = status;
        this.code = code;
    }

    /** There is no such thing, or it is somebody else's. */
    public static Refusal notFound(String what) {
        return new Refusal(HttpStatus.NOT_FOUND, "not_found", "there is no " + what);
    }

    /** The body to send. */
    public ProblemDetail problem() {
        return problem(status, code, String.valueOf(getMessage()));
    }

    static ProblemDetail problem(HttpStatus status, String code, String message) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, message);
        problem.setProperty("code", code);
        return problem;
    }
}
