package dev.onlyonce.payments.web;

import dev.onlyonce.payments.books.Bookkeeping;
import dev.onlyonce.payments.books.TrialBalance;
import dev.onlyonce.payments.db.Database;
import java.security.Principal;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The books, to look at. */
@RestController
class BooksController {
    private final Database database;
    private final Bookkeeping books;

    BooksController(Database database, Bookkeeping books) {
        this.database = database;
        this.books = books;
    }

    @GetMapping("/books")
    TrialBalance get(Principal tenant) {
        return database.transaction(sql -> books.trialBalance(sql, tenant.getName()));
    }
}
