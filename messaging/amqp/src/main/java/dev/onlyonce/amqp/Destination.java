package dev.onlyonce.amqp;

/**
 * Where a message is published.
 *
 * @param exchange empty for the default exchange, which has a route to each queue by its name
 * @param routingKey the queue's name if the exchange is the default one
 */
record Destination(String exchange, String routingKey) {

    /**
     * Reads {@code exchange/routingKey}, or the name of a queue. The first slash separates: {@code /a/b} is the queue {@code a/b}, and
     * {@code events/} an exchange with an empty routing key.
     */
    static Destination of(String text) {
        int slash = text.indexOf('/');
        return slash < 0 ? queue(text) : new Destination(text.substring(0, slash), text.substring(slash + 1));
    }

    static Destination queue(String name) {
        return new Destination("", name);
    }

    @Override
    public String toString() {
        return exchange.isEmpty() ? "queue " + routingKey : "exchange " + exchange + ", routing key " + routingKey;
    }
}
