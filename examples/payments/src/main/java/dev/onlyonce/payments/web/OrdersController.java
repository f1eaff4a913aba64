package dev.onlyonce.payments.web;

import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.domain.OrderRequest;
import dev.onlyonce.payments.domain.Orders;
import dev.onlyonce.spring.Unprotected;
import java.security.Principal;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Orders: a create with a natural key. No header is needed; the repeat gets the original. */
@RestController
class OrdersController {
    private final Database database;
    private final Orders orders;

    OrdersController(Database database, Orders orders) {
        this.database = database;
        this.orders = orders;
    }

    @PostMapping("/orders")
    @Unprotected("client_order_id is unique: a repeat finds the order")
    ResponseEntity<Orders.Order> create(Principal tenant, @RequestBody OrderRequest request) {
        request.check();
        Orders.Created created = database.transaction(sql -> orders.create(sql, tenant.getName(), request));
        if (!created.same()) {
            throw new Refusal(
                    HttpStatus.UNPROCESSABLE_CONTENT,
                    "client_order_id_reused",
                    "client_order_id belongs to " + created.order().id() + ", which is another order");
        }
        return ResponseEntity.status(created.created() ? HttpStatus.CREATED : HttpStatus.OK)
                .body(created.order());
    }
}
