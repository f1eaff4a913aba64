package shop;

import dev.onlyonce.spring.Idempotent;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** The application of the guide. */
@SpringBootApplication
@RestController
public class Shop {
    private final AtomicInteger orders = new AtomicInteger();

    @Idempotent
    @PostMapping("/orders")
    String order(@RequestBody String item) {
        return "order " + orders.incrementAndGet() + ": " + item;
    }

    /** How many have been placed. */
    public int orders() {
        return orders.get();
    }
}
