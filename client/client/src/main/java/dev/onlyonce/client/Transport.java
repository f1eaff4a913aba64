package dev.onlyonce.client;

import java.io.IOException;
import java.net.http.HttpClient;
import java.time.Duration;

/**
 * Sends a request once and returns the answer. The client's own uses {@code java.net.http}; interceptors of other HTTP clients
 * bring theirs and share everything else.
 */
@FunctionalInterface
public interface Transport {
    /**
     * One exchange. It follows no redirects and repeats nothing.
     *
     * @param request with the key and all other headers
     * @param timeout for the whole exchange, the body of the answer included
     * @throws IOException if there is no whole answer. A {@link java.net.ConnectException}, {@link java.net.UnknownHostException},
     *     {@link java.net.http.HttpConnectTimeoutException}, {@link java.net.NoRouteToHostException} or {@link
     *     javax.net.ssl.SSLHandshakeException} says that nothing of the request was sent; any other leaves it open
     */
    CallResponse exchange(CallRequest request, Duration timeout) throws IOException, InterruptedException;

    /** Sends with an HTTP client of the JDK, which must not follow redirects. */
    static Transport of(HttpClient http) {
        return new HttpTransport(http, false);
    }
}
