package dev.onlyonce.payments.web;

import dev.onlyonce.LeaseLost;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.domain.Invalid;
import dev.onlyonce.payments.domain.ProviderClient;
import dev.onlyonce.payments.domain.Refunding;
import dev.onlyonce.sql.transactions.TransactionConflict;
import dev.onlyonce.store.StoreException;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.exc.UnrecognizedPropertyException;

/** Turns what handlers throw into problem details. */
@RestControllerAdvice
class Refusals extends ResponseEntityExceptionHandler {
    private static final Logger log = LoggerFactory.getLogger(Refusals.class);
    private static final String CODE = "request_invalid";
    private static final String IMPOSSIBLE = "The request says something impossible";
    /** A database that is well again is noticed within a second. */
    private static final String RETRY_AFTER_SECONDS = "1";

    @ExceptionHandler
    ResponseEntity<ProblemDetail> refused(Refusal refusal) {
        ProblemDetail problem = refusal.problem();
        return ResponseEntity.status(problem.getStatus()).body(problem);
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> invalid(Invalid invalid) {
        return refused(new Refusal(HttpStatus.BAD_REQUEST, CODE, IMPOSSIBLE, invalid.errors()));
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> unavailable(Database.Unavailable e) {
        log.warn("The database does not answer: {}", String.valueOf(e.getCause()));
        return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE)
                .header(HttpHeaders.RETRY_AFTER, RETRY_AFTER_SECONDS)
                .body(Refusal.problem(
                        HttpStatus.SERVICE_UNAVAILABLE,
                        "database_unavailable",
                        // A part of it may have been done.
                        "Try again with the same key; it goes on where this request ended"));
    }

    @ExceptionHandler({StoreException.class, LeaseLost.class, TransactionConflict.class})
    ResponseEntity<ProblemDetail> storeFailed(RuntimeException e) {
        return unavailable(new Database.Unavailable(e));
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> notRefundable(Refunding.NotRefundable e) {
        String message = String.valueOf(e.getMessage());
        return switch (e.why()) {
            case MISSING -> refused(new Refusal(HttpStatus.NOT_FOUND, "not_found", message));
            case REFUSED -> refused(new Refusal(HttpStatus.UNPROCESSABLE_CONTENT, "not_refundable", message));
            case PENDING ->
                ResponseEntity.status(HttpStatus.CONFLICT)
                        .header(HttpHeaders.RETRY_AFTER, RETRY_AFTER_SECONDS)
                        .body(Refusal.problem(HttpStatus.CONFLICT, "payment_pending", message));
        };
    }

    @ExceptionHandler({ProviderClient.NoAnswer.class, NotExecuted.class})
    ResponseEntity<ProblemDetail> providerSilent(RuntimeException e) {
        log.debug("The provider does not answer: {}", String.valueOf(e.getMessage()));
        return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE)
                .header(HttpHeaders.RETRY_AFTER, RETRY_AFTER_SECONDS)
                .body(
                        Refusal.problem(
                                HttpStatus.SERVICE_UNAVAILABLE,
                                "provider_unavailable",
                                "The provider does not answer; the same request with the same key goes on where this one ended"));
    }

    @Override
    protected ResponseEntity<Object> handleHttpMessageNotReadable(
            HttpMessageNotReadableException e, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
        ProblemDetail problem = unreadable(e.getCause()).problem();
        return ResponseEntity.badRequest().body(problem);
    }

    /** What Spring refuses by itself gets a code too. */
    @Override
    protected ResponseEntity<Object> createResponseEntity(
            @Nullable Object body, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
        if (body instanceof ProblemDetail problem) {
            problem.setProperty(
                    "code", HttpStatus.valueOf(status.value()).name().toLowerCase(Locale.ROOT));
        }
        return super.createResponseEntity(body, headers, status, request);
    }

    /** Says where, but never repeats what was sent. */
    static Refusal unreadable(@Nullable Throwable cause) {
        if (cause instanceof UnrecognizedPropertyException unknown) {
            List<Invalid.Mistake> mistakes =
                    List.of(new Invalid.Mistake(unknown.getPropertyName(), "is not known here"));
            return new Refusal(HttpStatus.BAD_REQUEST, CODE, IMPOSSIBLE, mistakes);
        }
        if (cause instanceof DatabindException bound && !bound.getPath().isEmpty()) {
            List<Invalid.Mistake> mistakes = List.of(new Invalid.Mistake(
                    String.valueOf(bound.getPath().get(0).getPropertyName()),
                    "is not of the type or size that is expected here"));
            return new Refusal(HttpStatus.BAD_REQUEST, CODE, IMPOSSIBLE, mistakes);
        }
        String where = cause instanceof JacksonException json && json.getLocation() != null
                ? "The body is not the JSON that is expected here; see line %d, column %d"
                        .formatted(
                                json.getLocation().getLineNr(),
                                json.getLocation().getColumnNr())
                : "The body is missing or is not JSON";
        return new Refusal(HttpStatus.BAD_REQUEST, CODE, where);
    }
}
