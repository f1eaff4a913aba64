package dev.onlyonce.payments.web;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.Operation;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.domain.Operations;
import dev.onlyonce.payments.domain.PaymentAnswer;
import dev.onlyonce.payments.domain.TransferOrder;
import dev.onlyonce.payments.domain.Transfers;
import dev.onlyonce.spring.Unprotected;
import dev.onlyonce.sql.transactions.Transactions;
import jakarta.servlet.http.HttpServletRequest;
import java.sql.Connection;
import java.sql.SQLException;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Transfers, the transactional way: key, money and answer commit together. */
@RestController
class TransfersController {
    private final Database database;
    private final Transfers transfers;
    private final Transactions transactions;
    private final Keyed keyed;
    private final Bodies bodies;
    private final Operation operation;

    TransfersController(
            Database database, Transfers transfers, Onlyonce once, Keyed keyed, Bodies bodies, Operations operations) {
        this.database = database;
        this.transfers = transfers;
        this.transactions = Transactions.of(once);
        this.keyed = keyed;
        this.bodies = bodies;
        this.operation = operations.transfer();
    }

    @PostMapping(path = "/transfers", consumes = MediaType.APPLICATION_JSON_VALUE)
    @Unprotected("claims its key in the transaction that moves the money")
    ResponseEntity<byte[]> create(HttpServletRequest request, @RequestBody byte[] body) {
        TransferOrder order = bodies.read(body, TransferOrder.class);
        order.check();
        return keyed.handle(operation, request, body, (key, fingerprint) -> execute(key, fingerprint, order));
    }

    private HttpAnswer execute(Key key, Fingerprint fingerprint, TransferOrder order) {
        try {
            Outcome<byte[]> outcome = transactions.execute(
                    key,
                    fingerprint,
                    Codec.bytes(),
                    connection -> PaymentAnswer.record(transfer(connection, key.tenant(), order)));
            return keyed.answer(operation, outcome);
        } catch (SQLException e) {
            throw new Database.Unavailable(e);
        }
    }

    private HttpAnswer transfer(Connection connection, String tenant, TransferOrder order) throws SQLException {
        Transfers.Result result = transfers.make(database.on(connection), tenant, order);
        if (result instanceof Transfers.Result.Made made) {
            return new HttpAnswer(
                    201, Headers.of("Content-Type", "application/json"), PaymentAnswer.json(made.transfer()));
        }
        Transfers.Result.Refused refused = (Transfers.Result.Refused) result;
        return new HttpAnswer(
                HttpStatus.UNPROCESSABLE_CONTENT.value(),
                Headers.of("Content-Type", "application/problem+json"),
                bodies.write(Refusal.problem(HttpStatus.UNPROCESSABLE_CONTENT, refused.code(), refused.message())));
    }
}
