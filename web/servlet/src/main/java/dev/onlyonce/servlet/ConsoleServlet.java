package dev.onlyonce.servlet;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.admin.AdminHandler;
import dev.onlyonce.http.admin.AdminRequest;
import dev.onlyonce.http.admin.Caller;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.Serial;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.Principal;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The operators' interface in a servlet container. Register it at a path of its own and everything below; whatever authenticates users
 * must stand before it.
 */
public final class ConsoleServlet extends HttpServlet {
    @Serial
    private static final long serialVersionUID = 1;

    /** What proxies add: the other end of the connection is then not the client. */
    private static final List<String> FORWARDED =
            List.of("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Via");

    private final transient AdminHandler handler;
    private final transient Function<HttpServletRequest, Caller.@Nullable Role> roles;
    private final String base;

    /**
     * Answers at a path.
     *
     * @param base where it is within the application, such as {@code /onlyonce}
     * @param roles what an authenticated user may do; null for nothing
     */
    public ConsoleServlet(
            AdminHandler handler, String base, Function<HttpServletRequest, Caller.@Nullable Role> roles) {
        this.handler = requireNonNull(handler, "handler");
        this.base = requireNonNull(base, "base");
        this.roles = requireNonNull(roles, "roles");
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String uri = request.getRequestURI();
        int begin = uri.indexOf(base, request.getContextPath().length());
        int end = begin + base.length();
        if (begin < 0 || (end < uri.length() && uri.charAt(end) != '/')) {
            // Some other spelling of the path, which only hides what is asked for.
            response.setStatus(HttpServletResponse.SC_NOT_FOUND);
            return;
        }
        AdminHandler.Step step = handler.open(new AdminRequest(
                request.getMethod(),
                uri.substring(0, end),
                uri.substring(end),
                request.getQueryString(),
                OnlyonceFilter.headers(request),
                peer(request)));
        OnlyonceFilter.send(response, answer(request, step));
    }

    private static HttpAnswer answer(HttpServletRequest request, AdminHandler.Step step) throws IOException {
        if (step instanceof AdminHandler.Step.Answered answered) {
            return answered.answer();
        }
        AdminHandler.Step.Read read = (AdminHandler.Step.Read) step;
        byte[] body = RequestBody.raw(request, read.bytesMax());
        return body.length > read.bytesMax()
                ? AdminHandler.tooLarge(read.bytesMax())
                : read.work().apply(body);
    }

    private AdminRequest.Peer peer(HttpServletRequest request) {
        Principal principal = request.getUserPrincipal();
        return new AdminRequest.Peer(
                request.getRemoteAddr(),
                isDirect(request) && isLoopback(request.getRemoteAddr()) && isLoopback(request.getLocalAddr()),
                request.isSecure(),
                principal == null ? null : principal.getName(),
                principal == null ? null : roles.apply(request));
    }

    private static boolean isDirect(HttpServletRequest request) {
        return FORWARDED.stream().allMatch(name -> request.getHeader(name) == null);
    }

    /** Containers give addresses, not names, so nothing is looked up. */
    private static boolean isLoopback(String address) {
        try {
            return address != null
                    && !address.isEmpty()
                    && (Character.digit(address.charAt(0), 16) >= 0 || address.charAt(0) == ':')
                    && InetAddress.getByName(address).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }
}
