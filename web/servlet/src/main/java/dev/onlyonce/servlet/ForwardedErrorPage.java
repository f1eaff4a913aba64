package dev.onlyonce.servlet;

import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renders errors as the container would, by forwarding to the application's error path, but early enough to be recorded. If
 * there is no such path, or it fails too, a short problem document is the answer.
 */
final class ForwardedErrorPage implements ProtectedCall.ErrorPage {
    private static final Logger log = LoggerFactory.getLogger(ForwardedErrorPage.class);

    private final @Nullable String path;

    ForwardedErrorPage(@Nullable String path) {
        this.path = path;
    }

    @Override
    public void render(
            BufferedRequest request,
            CapturedResponse response,
            int status,
            @Nullable String message,
            @Nullable Throwable thrown)
            throws IOException {
        RequestDispatcher dispatcher = path == null ? null : request.getRequestDispatcher(path);
        // What was written after the error was asked for is no part of the page.
        response.startOver();
        response.setStatus(status);
        if (dispatcher != null) {
            request.setAttribute(RequestDispatcher.ERROR_STATUS_CODE, status);
            request.setAttribute(RequestDispatcher.ERROR_MESSAGE, message == null ? "" : message);
            request.setAttribute(RequestDispatcher.ERROR_REQUEST_URI, request.getRequestURI());
            if (thrown != null) {
                request.setAttribute(RequestDispatcher.ERROR_EXCEPTION, thrown);
                request.setAttribute(RequestDispatcher.ERROR_EXCEPTION_TYPE, thrown.getClass());
            }
            try {
                dispatcher.forward(request, response);
                if (response.takeError() == null) {
                    return;
                }
            } catch (ServletException | IOException | RuntimeException | Error e) {
                log.warn("The error page {} failed", path, e);
            }
            response.reset();
            response.setStatus(status);
        }
        byte[] body = ("{\"status\":" + status + "}").getBytes(StandardCharsets.UTF_8);
        response.setContentType("application/problem+json");
        response.getOutputStream().write(body);
    }
}
