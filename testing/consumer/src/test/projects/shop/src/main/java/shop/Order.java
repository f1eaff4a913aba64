package shop;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

@Entity
@Table(name = "shop_order")
public class Order {
    @Id
    private String id;

    @Column(unique = true, nullable = false)
    private String number;

    private int quantity;

    protected Order() {}

    public Order(String id, String number, int quantity) {
        this.id = id;
        this.number = number;
        this.quantity = quantity;
    }

    public String getId() {
        return id;
    }

    public String getNumber() {
        return number;
    }

    public int getQuantity() {
        return quantity;
    }
}
