package dev.onlyonce.payments.web;

import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.domain.CustomerSettings;
import java.security.Principal;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Customers' settings: PUT and DELETE are absolute, so repeating them changes nothing and gets the same answer. */
@RestController
class CustomersController {
    private final Database database;

    CustomersController(Database database) {
        this.database = database;
    }

    @PutMapping("/customers/{id}/settings")
    CustomerSettings put(Principal tenant, @PathVariable String id, @RequestBody CustomerSettings settings) {
        settings.check(id);
        return database.transaction(sql -> settings.put(sql, tenant.getName(), id));
    }

    /** 204 also if there is nothing to delete: a client that lost the first answer must not be told that it failed. */
    @DeleteMapping("/customers/{id}/settings")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void delete(Principal tenant, @PathVariable String id) {
        CustomerSettings.checkCustomer(id);
        database.transaction(sql -> CustomerSettings.delete(sql, tenant.getName(), id));
    }

    @GetMapping("/customers/{id}/settings")
    CustomerSettings get(Principal tenant, @PathVariable String id) {
        return database.transaction(sql -> CustomerSettings.find(sql, tenant.getName(), id))
                .orElseThrow(() -> Refusal.notFound("customer " + id));
    }
}
