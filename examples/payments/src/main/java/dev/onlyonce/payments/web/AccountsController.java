package dev.onlyonce.payments.web;

import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.domain.Transfers;
import java.security.Principal;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** Accounts, to look at. */
@RestController
class AccountsController {
    private final Database database;
    private final Transfers transfers;

    AccountsController(Database database, Transfers transfers) {
        this.database = database;
        this.transfers = transfers;
    }

    @GetMapping("/accounts/{id}")
    Transfers.Account get(Principal tenant, @PathVariable String id) {
        return database.transaction(sql -> transfers.account(sql, tenant.getName(), id))
                .orElseThrow(() -> Refusal.notFound("account " + id));
    }
}
