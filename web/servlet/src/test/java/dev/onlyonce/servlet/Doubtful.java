package dev.onlyonce.servlet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Handlers that hang, fail and break. */
final class Doubtful {
    private static final int TIMEOUT_MILLIS = 50;

    private Doubtful() {}

    /** Whether there is such a handler. */
    static boolean handle(String path, HttpServletRequest request, HttpServletResponse response) throws IOException {
        switch (path) {
            case "/late" -> late(request, 0);
            case "/late-large" -> late(request, 2 << 20);
            case "/late-dispatch" -> lateDispatch(request, response);
            case "/throw" -> breakAs(request.getParameter("what"));
            case "/throw-async" -> {
                request.startAsync().setTimeout(TIMEOUT_MILLIS);
                breakAs(request.getParameter("what"));
            }
            case "/made-up" -> {
                // As frameworks do that answer exceptions by themselves.
                request.setAttribute(OnlyonceFilter.THROWN, new IllegalStateException("broken"));
                request.setAttribute(OnlyonceFilter.UNANSWERED, true);
                response.setStatus(status(request));
                response.getOutputStream().print("made up");
            }
            case "/advised" -> {
                request.setAttribute(OnlyonceFilter.THROWN, new IllegalStateException("broken"));
                response.setStatus(status(request));
            }
            case "/unsendable" -> {
                request.setAttribute(OnlyonceFilter.THROWN, new IllegalStateException("broken"));
                request.setAttribute(OnlyonceFilter.RETURNED, true);
                response.setStatus(status(request));
            }
            case "/flushed" -> {
                response.setStatus(201);
                response.getOutputStream().print("done");
                response.flushBuffer();
                response.setStatus(status(request));
            }
            case "/flushed-error" -> {
                response.setStatus(201);
                response.getOutputStream().print("done");
                response.getOutputStream().flush();
                response.sendError(status(request));
            }
            case "/status" -> response.setStatus(status(request));
            default -> {
                return false;
            }
        }
        return true;
    }

    private static int status(HttpServletRequest request) {
        return Integer.parseInt(request.getParameter("status"));
    }

    static void breakAs(String what) throws IOException {
        switch (what) {
            case "io" -> throw new IOException("broken");
            case "error" -> throw new AssertionError("broken");
            default -> throw new IllegalStateException("broken");
        }
    }

    /** Answers for the work when it times out; the work itself may go on. */
    private static void late(HttpServletRequest request, int bytes) {
        int status = status(request);
        AsyncContext async = request.startAsync();
        async.setTimeout(TIMEOUT_MILLIS);
        async.addListener(new OnTimeout(event -> {
            HttpServletResponse response =
                    (HttpServletResponse) event.getAsyncContext().getResponse();
            response.setStatus(status);
            response.getOutputStream().print("gave up");
            response.getOutputStream().write(new byte[bytes]);
            event.getAsyncContext().complete();
        }));
    }

    /** As frameworks do: the time-out is dispatched, and the dispatch answers. */
    private static void lateDispatch(HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (request.getDispatcherType() == DispatcherType.ASYNC) {
            response.setStatus(status(request));
            response.getOutputStream().print("gave up");
            return;
        }
        AsyncContext async = request.startAsync(request, response);
        async.setTimeout(TIMEOUT_MILLIS);
        async.addListener(new OnTimeout(event -> event.getAsyncContext().dispatch()));
    }

    private interface TimeoutAnswer {
        void answer(AsyncEvent event) throws IOException;
    }

    private record OnTimeout(TimeoutAnswer answer) implements AsyncListener {
        @Override
        public void onTimeout(AsyncEvent event) throws IOException {
            answer.answer(event);
        }

        @Override
        public void onComplete(AsyncEvent event) {}

        @Override
        public void onError(AsyncEvent event) {}

        @Override
        public void onStartAsync(AsyncEvent event) {}
    }
}
