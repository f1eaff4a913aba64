package shop;

import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
public class OrderService {
    private final OrderRepository orders;
    private final String stuck;

    public OrderService(OrderRepository orders, @Value("${shop.stuck:}") String stuck) {
        this.orders = orders;
        this.stuck = stuck;
    }

    @Transactional
    public Order place(NewOrder order) throws InterruptedException {
        Order placed = orders.saveAndFlush(new Order(UUID.randomUUID().toString(), order.number(), order.quantity()));
        if (stuck.equals(order.number())) {
            System.out.println("written " + order.number());
            new CountDownLatch(1).await();
        }
        return placed;
    }
}
