package dev.onlyonce.servlet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/** Ends the call before the container sends what was written: a completed response passes no filter any more. */
final class CompletingContext implements AsyncContext {
    private final AsyncContext context;
    private final Ending ending;

    /** What comes before completion. */
    interface Ending {
        void end() throws IOException;
    }

    CompletingContext(AsyncContext context, Ending ending) {
        this.context = context;
        this.ending = ending;
    }

    @Override
    public void complete() {
        try {
            ending.end();
        } catch (IOException clientIsGone) {
            throw new UncheckedIOException(clientIsGone);
        } finally {
            context.complete();
        }
    }

    @Override
    public ServletRequest getRequest() {
        return context.getRequest();
    }

    @Override
    public ServletResponse getResponse() {
        return context.getResponse();
    }

    @Override
    public boolean hasOriginalRequestAndResponse() {
        return context.hasOriginalRequestAndResponse();
    }

    @Override
    public void dispatch() {
        context.dispatch();
    }

    @Override
    public void dispatch(String path) {
        context.dispatch(path);
    }

    @Override
    public void dispatch(@Nullable ServletContext servletContext, String path) {
        context.dispatch(servletContext, path);
    }

    @Override
    public void start(Runnable task) {
        context.start(task);
    }

    @Override
    public void addListener(AsyncListener listener) {
        context.addListener(new Listening(listener));
    }

    @Override
    public void addListener(AsyncListener listener, ServletRequest request, ServletResponse response) {
        context.addListener(new Listening(listener), request, response);
    }

    @Override
    public <T extends AsyncListener> T createListener(Class<T> type) throws ServletException {
        return context.createListener(type);
    }

    @Override
    public void setTimeout(long millis) {
        context.setTimeout(millis);
    }

    @Override
    public long getTimeout() {
        return context.getTimeout();
    }

    /** Listeners complete too, with the context that their event names. */
    private final class Listening implements AsyncListener {
        private final AsyncListener listener;

        Listening(AsyncListener listener) {
            this.listener = listener;
        }

        private AsyncEvent completing(AsyncEvent event) {
            return new AsyncEvent(
                    new CompletingContext(event.getAsyncContext(), ending),
                    event.getSuppliedRequest(),
                    event.getSuppliedResponse(),
                    event.getThrowable());
        }

        @Override
        public void onComplete(AsyncEvent event) throws IOException {
            listener.onComplete(completing(event));
        }

        @Override
        public void onTimeout(AsyncEvent event) throws IOException {
            listener.onTimeout(completing(event));
        }

        @Override
        public void onError(AsyncEvent event) throws IOException {
            listener.onError(completing(event));
        }

        @Override
        public void onStartAsync(AsyncEvent event) throws IOException {
            listener.onStartAsync(completing(event));
        }
    }
}
