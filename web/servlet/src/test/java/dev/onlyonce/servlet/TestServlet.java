package dev.onlyonce.servlet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.Part;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.Serial;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.GZIPOutputStream;

/** A handler for every kind of behaviour; the path says which. It counts its effects by key. */
final class TestServlet extends HttpServlet {
    @Serial
    private static final long serialVersionUID = 1;

    final transient Map<String, AtomicInteger> effects = new ConcurrentHashMap<>();
    final transient CountDownLatch slowEntered = new CountDownLatch(1);
    final transient CountDownLatch slowMayGo = new CountDownLatch(1);

    int effects(String key) {
        return effects.getOrDefault(key, new AtomicInteger()).get();
    }

    private int effect(HttpServletRequest request) {
        return effects.computeIfAbsent(request.getHeader("Idempotency-Key"), key -> new AtomicInteger())
                .incrementAndGet();
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response)
            throws IOException, ServletException {
        String path = request.getPathInfo().replaceFirst("^/stripe", "");
        if (path.equals("/error")) {
            error(request, response);
            return;
        }
        int effect = request.getDispatcherType() == DispatcherType.REQUEST ? effect(request) : 0;
        switch (path) {
            case "/stream" ->
                text(response, new String(request.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
            case "/reader" -> text(response, request.getReader().readLine());
            case "/form" ->
                text(response, request.getParameter("a") + " " + String.join("|", request.getParameterValues("b")));
            case "/multipart" -> multipart(request, response);
            case "/charset" -> {
                response.setContentType("text/plain");
                response.setCharacterEncoding("ISO-8859-1");
                response.getWriter().print("Käse " + effect);
            }
            case "/gzip" -> gzip(response);
            case "/headers" -> headers(response);
            case "/redirect" -> response.sendRedirect("/elsewhere?n=" + effect);
            case "/not-found" -> {
                response.getWriter().print("thrown away");
                response.sendError(404, "no such thing " + effect);
            }
            case "/not-found-late" -> {
                response.sendError(404, "no such thing " + effect);
                response.getWriter().print("thrown away too");
            }
            case "/server-error" -> response.sendError(effect == 1 ? 500 : 200, "broken");
            case "/large" -> large(response, 2 << 20);
            case "/flush" -> {
                response.getOutputStream().print("early");
                response.flushBuffer();
                response.getOutputStream().flush();
                if (response.isCommitted()) {
                    throw new IllegalStateException("nothing may leave yet");
                }
                response.getOutputStream().print(" and late");
                response.getOutputStream().close();
            }
            case "/reset" -> {
                response.addHeader("X-Gone", "1");
                text(response, "gone");
                response.reset();
                response.setStatus(202);
                text(response, "kept");
            }
            case "/empty" -> response.setStatus(204);
            case "/forward" -> request.getRequestDispatcher("/app/stream").forward(request, response);
            case "/async-dispatch" -> asyncDispatch(request, response, effect);
            case "/async-complete" -> asyncComplete(request, effect);
            case "/async-own" -> asyncOwn(request, effect);
            case "/async-timeout" -> request.startAsync().setTimeout(50);
            case "/slow" -> slow(response);
            default -> {
                if (!Doubtful.handle(path, request, response)) {
                    response.sendError(404);
                }
            }
        }
    }

    private static void text(HttpServletResponse response, String text) throws IOException {
        response.setContentType("text/plain;charset=UTF-8");
        response.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    }

    private static void error(HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (request.getParameter("page") != null) {
            Doubtful.breakAs(request.getParameter("page"));
        }
        text(
                response,
                "page for " + request.getAttribute("jakarta.servlet.error.status_code") + " "
                        + request.getAttribute("jakarta.servlet.error.message"));
    }

    private static void multipart(HttpServletRequest request, HttpServletResponse response)
            throws IOException, ServletException {
        StringBuilder parts = new StringBuilder();
        for (Part part : request.getParts()) {
            parts.append(part.getName())
                    .append('=')
                    .append(new String(part.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .append(';');
        }
        text(response, parts.toString());
    }

    private static void gzip(HttpServletResponse response) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
            gzip.write("compressed".getBytes(StandardCharsets.UTF_8));
        }
        response.setHeader("Content-Encoding", "gzip");
        response.setContentLength(bytes.size());
        response.getOutputStream().write(bytes.toByteArray());
    }

    private static void headers(HttpServletResponse response) throws IOException {
        response.setStatus(201);
        response.addHeader("X-Several", "one");
        response.addHeader("X-Several", "two");
        response.setDateHeader("Last-Modified", 0);
        response.setIntHeader("X-Number", 7);
        response.setLocale(Locale.GERMAN);
        response.addCookie(new Cookie("session", "secret"));
        response.setContentType("application/json");
        response.getOutputStream().print("{}");
    }

    private static void large(HttpServletResponse response, int bytes) throws IOException {
        response.setHeader("Location", "/things/1");
        response.setContentType("application/octet-stream");
        response.setContentLength(bytes);
        byte[] chunk = new byte[8192];
        for (int written = 0; written < bytes; written += chunk.length) {
            response.getOutputStream().write(chunk);
        }
    }

    private static void asyncDispatch(HttpServletRequest request, HttpServletResponse response, int effect)
            throws IOException {
        Object result = request.getAttribute("result");
        if (result != null) {
            text(response, result.toString());
            return;
        }
        AsyncContext async = request.startAsync(request, response);
        async.start(() -> {
            request.setAttribute("result", "dispatched " + effect);
            async.dispatch();
        });
    }

    private static void asyncComplete(HttpServletRequest request, int effect) {
        AsyncContext async = request.startAsync();
        async.start(() -> {
            try {
                text((HttpServletResponse) async.getResponse(), "completed " + effect);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
            async.complete();
        });
    }

    /** As handlers do that have kept nothing but the request. */
    private static void asyncOwn(HttpServletRequest request, int effect) {
        request.startAsync();
        request.getAsyncContext().start(() -> {
            try {
                text((HttpServletResponse) request.getAsyncContext().getResponse(), "completed " + effect);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
            request.getAsyncContext().complete();
        });
    }

    private void slow(HttpServletResponse response) throws IOException {
        slowEntered.countDown();
        try {
            slowMayGo.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        text(response, "done at last");
    }
}
