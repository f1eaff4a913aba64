package dev.onlyonce.spring.test;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.test.web.servlet.client.EntityExchangeResult;
import org.springframework.test.web.servlet.client.RestTestClient;

/**
 * Replies of a {@code RestTestClient}, which Spring has since 7.0 (Spring Boot 4). Not in {@link Reply}, because code that uses that must
 * compile with Spring Boot 3.5 too.
 */
public final class RestReply {
    private RestReply() {}

    /** Of a request that a {@code RestTestClient} exchanged, with a server or with {@code MockMvc}. */
    public static Reply of(RestTestClient.ResponseSpec exchanged) {
        EntityExchangeResult<byte[]> result = exchanged.expectBody().returnResult();
        Map<String, List<String>> headers = new TreeMap<>();
        result.getResponseHeaders().forEach(headers::put);
        byte[] body = result.getResponseBody();
        return new Reply(result.getStatus().value(), headers, body == null ? new byte[0] : body);
    }
}
