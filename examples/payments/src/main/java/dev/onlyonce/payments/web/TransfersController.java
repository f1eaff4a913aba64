package dev.onlyonce.payments.web;

import dev.onlyonce.Way;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.domain.Transfer;
import dev.onlyonce.payments.domain.TransferOrder;
import dev.onlyonce.payments.domain.Transfers;
import dev.onlyonce.spring.Idempotent;
import java.security.Principal;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Transfers, the transactional way: key, money and answer commit together. */
@RestController
class TransfersController {
    private final Database database;
    private final Transfers transfers;

    TransfersController(Database database, Transfers transfers) {
        this.database = database;
        this.transfers = transfers;
    }

    @PostMapping(path = "/transfers", consumes = MediaType.APPLICATION_JSON_VALUE)
    @Idempotent(way = Way.TRANSACTIONAL)
    @ResponseStatus(HttpStatus.CREATED)
    Transfer create(Principal tenant, @RequestBody TransferOrder order) {
        Transfers.Result result = database.inCurrentTransaction(sql -> transfers.make(sql, tenant.getName(), order));
        if (result instanceof Transfers.Result.Refused refused) {
            throw new Refusal(HttpStatus.UNPROCESSABLE_CONTENT, refused.code(), refused.message());
        }
        return ((Transfers.Result.Made) result).transfer();
    }
}
