package dev.onlyonce.client;

/**
 * The business id of a request that one of our interceptors sends: a tag in OkHttp, the attribute {@link
 * #ATTRIBUTE} in Spring. Requests without one pass untouched.
 *
 * @param value such as {@code order-42/pay}
 */
public record BusinessId(String value) {
    /** The name of the attribute; its value is a text or a {@link BusinessId}. */
    public static final String ATTRIBUTE = "dev.onlyonce.client.BusinessId";

    @Override
    public String toString() {
        return value;
    }
}
