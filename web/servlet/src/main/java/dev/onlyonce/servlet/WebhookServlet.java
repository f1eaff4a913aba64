package dev.onlyonce.servlet;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.http.WebhookReceiver;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.Serial;

/**
 * Receives the webhooks of one source, by POST. Register it at a path of its own, and let no filter before it read the body: the
 * signature is that of the bytes as they were sent. Filters that authenticate users must let its path pass.
 */
public final class WebhookServlet extends HttpServlet {
    @Serial
    private static final long serialVersionUID = 1;

    private final transient WebhookReceiver receiver;

    /** Hands requests to the receiver. */
    public WebhookServlet(WebhookReceiver receiver) {
        this.receiver = requireNonNull(receiver, "receiver");
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (!request.getMethod().equals("POST")) {
            response.setHeader("Allow", "POST");
            response.setStatus(HttpServletResponse.SC_METHOD_NOT_ALLOWED);
            return;
        }
        byte[] body = RequestBody.raw(request, receiver.bodyBytesMax());
        OnlyonceFilter.send(response, receiver.receive(OnlyonceFilter.headers(request), body));
    }
}
