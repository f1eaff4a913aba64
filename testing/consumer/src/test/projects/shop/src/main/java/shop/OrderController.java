package shop;

import java.net.URI;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
@CrossOrigin("https://app.example")
public class OrderController {
    private final OrderService service;
    private final OrderRepository orders;

    public OrderController(OrderService service, OrderRepository orders) {
        this.service = service;
        this.orders = orders;
    }

    @PostMapping("/orders")
    @Transactional
    public ResponseEntity<Order> place(@RequestBody NewOrder order) throws InterruptedException {
        if (order.quantity() < 1) {
            throw new IllegalArgumentException("quantity must be positive");
        }
        Order placed = service.place(order);
        return ResponseEntity.created(URI.create("/shop/orders/" + placed.getId())).body(placed);
    }

    @GetMapping("/orders/count")
    public long count(@RequestParam String number) {
        return orders.countByNumber(number);
    }
}
