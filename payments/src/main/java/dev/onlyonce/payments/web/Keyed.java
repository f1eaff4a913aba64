package dev.onlyonce.payments.web;

import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Exchange;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.HttpRequest;
import dev.onlyonce.http.Operation;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.sql.transactions.TransactionConflict;
import dev.onlyonce.store.StoreException;
import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.springframework.http.ResponseEntity;

/**
 * The same rules for keys as everywhere, for operations that claim their key in their own transaction: checks the request,
 * lets the operation decide, and answers as its profile says.
 */
final class Keyed {
    private static final int TRIES = 3;

    private final Boundary boundary;

    Keyed(Boundary boundary) {
        this.boundary = boundary;
    }

    /** Does what a checked request asks for; may be called again after a {@link TransactionConflict}. */
    @FunctionalInterface
    interface Execution {
        HttpAnswer execute(Key key, Fingerprint fingerprint);
    }

    ResponseEntity<byte[]> handle(Operation operation, HttpServletRequest request, byte[] body, Execution execution) {
        Exchange exchange = boundary.check(operation, read(request, body)).admit();
        if (exchange.stage() == Exchange.Stage.UNPROTECTED) {
            throw new IllegalStateException(operation.name() + " needs a profile that requires a key");
        }
        if (exchange.stage() != Exchange.Stage.READY) {
            return send(exchange.answer());
        }
        try {
            return execute(exchange, execution);
        } finally {
            exchange.release();
        }
    }

    private ResponseEntity<byte[]> execute(Exchange exchange, Execution execution) {
        for (int attempt = 1; ; attempt++) {
            try {
                return send(execution.execute(exchange.key(), exchange.fingerprint()));
            } catch (TransactionConflict e) {
                if (attempt == TRIES) {
                    throw new Database.Unavailable(e);
                }
            } catch (StoreException e) {
                return send(exchange.answers().storeUnavailable(e));
            }
        }
    }

    /** The answer for what was recorded or is under way. */
    HttpAnswer answer(Operation operation, Outcome<byte[]> outcome) {
        return boundary.answers(operation).to(outcome);
    }

    /** The answer to the request that was executed: as a replay's, but not marked as one. */
    HttpAnswer first(Outcome<byte[]> outcome, Operation operation) {
        HttpAnswer answer = boundary.answers(operation).to(outcome);
        Headers headers = new Headers(answer.headers().fields().stream()
                .filter(field -> !field.name().equalsIgnoreCase("Idempotent-Replayed"))
                .toList());
        return new HttpAnswer(answer.status(), headers, answer.body());
    }

    private static HttpRequest read(HttpServletRequest request, byte[] body) {
        List<Headers.Field> fields = new ArrayList<>();
        for (String name : Collections.list(request.getHeaderNames())) {
            Collections.list(request.getHeaders(name)).forEach(value -> fields.add(new Headers.Field(name, value)));
        }
        return new HttpRequest(
                request.getMethod(),
                request.getRequestURI(),
                request.getQueryString(),
                new Headers(fields),
                body,
                request.getUserPrincipal() == null
                        ? null
                        : request.getUserPrincipal().getName());
    }

    private static ResponseEntity<byte[]> send(HttpAnswer answer) {
        ResponseEntity.BodyBuilder response = ResponseEntity.status(answer.status());
        answer.headers().fields().forEach(field -> response.header(field.name(), field.value()));
        return response.body(answer.body());
    }
}
