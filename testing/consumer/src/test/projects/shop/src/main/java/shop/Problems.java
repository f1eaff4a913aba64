package shop;

import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

@RestControllerAdvice
public class Problems {
    /** Not DataIntegrityViolationException: Hibernate does not recognise SQLite's violations. */
    @ExceptionHandler(DataAccessException.class)
    public ProblemDetail conflict(DataAccessException e) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, "there is an order with this number");
    }

    @ExceptionHandler(IllegalArgumentException.class)
    public ProblemDetail invalid(IllegalArgumentException e) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.BAD_REQUEST, e.getMessage());
    }

    @ExceptionHandler(Exception.class)
    public ProblemDetail other(Exception e) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.INTERNAL_SERVER_ERROR, e.toString());
    }
}
