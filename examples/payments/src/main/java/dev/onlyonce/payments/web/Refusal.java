package dev.onlyonce.payments.web;

import dev.onlyonce.payments.domain.Invalid;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.Serial;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import tools.jackson.databind.json.JsonMapper;

/** An answer that says no, as problem details (RFC 9457) with a stable code. */
public final class Refusal extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private final HttpStatus status;
    private final String code;
    private final transient List<Invalid.Mistake> mistakes;

    /** With what a program and what a person need to know. */
    public Refusal(HttpStatus status, String code, String message) {
        this(status, code, message, List.of());
    }

    Refusal(HttpStatus status, String code, String message, List<Invalid.Mistake> mistakes) {
        super(message);
        this.status = status;
        this.code = code;
        this.mistakes = mistakes;
    }

    /** There is no such thing, or it is somebody else's. */
    public static Refusal notFound(String what) {
        return new Refusal(HttpStatus.NOT_FOUND, "not_found", "there is no " + what);
    }

    /** The body to send. */
    public ProblemDetail problem() {
        ProblemDetail problem = problem(status, code, String.valueOf(getMessage()));
        if (!mistakes.isEmpty()) {
            problem.setProperty("errors", mistakes);
        }
        return problem;
    }

    /** Sends it from where no controller is. */
    static void send(HttpServletResponse response, ProblemDetail problem, JsonMapper json) throws IOException {
        response.setStatus(problem.getStatus());
        response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
        response.getOutputStream().write(json.writeValueAsBytes(problem));
    }

    static ProblemDetail problem(HttpStatus status, String code, String message) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, message);
        problem.setProperty("code", code);
        return problem;
    }
}
