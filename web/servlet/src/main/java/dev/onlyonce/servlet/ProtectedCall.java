package dev.onlyonce.servlet;

import static dev.onlyonce.servlet.OnlyonceFilter.RETURNED;
import static dev.onlyonce.servlet.OnlyonceFilter.UNANSWERED;

import dev.onlyonce.NotExecuted;
import dev.onlyonce.http.Exchange;
import dev.onlyonce.http.HttpAnswer;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.ServletResponseWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One protected request on its way through the handler, however many dispatches and threads that takes. It ends exactly once:
 *
 * <ol>
 *   <li>when the handler returns and nothing asynchronous was started, or its last asynchronous dispatch returns;
 *   <li>when asynchronous work calls {@code complete()};
 *   <li>when the handler throws;
 *   <li>when the response grows larger than the bound;
 *   <li>when the container gives up on asynchronous work: nobody knows what that does, so the outcome is unknown.
 * </ol>
 *
 * <p>Once asynchronous work has timed out or met an error, it may go on while somebody answers for it. Such an answer never
 * makes the entry retryable. If the answer cannot even be made, the outcome is unknown: no way out of here leaves a claim
 * that nobody settles.
 */
final class ProtectedCall implements CapturedResponse.Owner, AsyncListener {
    static final String ATTRIBUTE = ProtectedCall.class.getName();

    private static final int REFUSAL = 400;
    private static final int SERVER_ERROR = 500;

    private static final Logger log = LoggerFactory.getLogger(ProtectedCall.class);

    private final Exchange exchange;
    private final BufferedRequest request;
    private final CapturedResponse response;
    private final ErrorPage errorPage;
    private boolean ended;
    /** Whether somebody answers for asynchronous work that may go on. */
    private boolean late;

    ProtectedCall(Exchange exchange, BufferedRequest request, HttpServletResponse real, ErrorPage errorPage) {
        this.exchange = exchange;
        this.request = request;
        this.response = new CapturedResponse(real, exchange.responseBytesMax(), this);
        this.errorPage = errorPage;
        request.capturedBy(response, this::wrap);
    }

    void first(FilterChain chain) throws IOException, ServletException {
        run(chain, request, response);
    }

    void again(FilterChain chain, ServletRequest dispatched, ServletResponse to) throws IOException, ServletException {
        run(chain, dispatched, isCaptured(to) ? to : response);
    }

    private boolean isCaptured(ServletResponse candidate) {
        ServletResponse inner = candidate;
        while (inner != response && inner instanceof ServletResponseWrapper wrapper) {
            inner = wrapper.getResponse();
        }
        return inner == response;
    }

    private void run(FilterChain chain, ServletRequest in, ServletResponse out) throws IOException, ServletException {
        try {
            chain.doFilter(in, out);
        } catch (IOException | ServletException | RuntimeException | Error thrown) {
            if (passes(thrown)) {
                throw thrown;
            }
            return;
        }
        if (!request.isAsyncStarted()) {
            end();
        }
    }

    /** Ends the exchange after an exception; whether that is to be handed on. */
    private synchronized boolean passes(Throwable thrown) throws IOException {
        if (ended) {
            return true;
        }
        Throwable cause = cause(thrown);
        if (request.isAsyncStarted()) {
            ended = true;
            exchange.ambiguous("the handler failed after it had started asynchronous work");
            return true;
        }
        if (exchange.isAnswerRecorded(cause)) {
            log.error("{} failed; the answer is recorded", exchange.claim().key(), cause);
            end(() -> {
                response.reset();
                errorPage.render(request, response, SERVER_ERROR, null, cause);
            });
            return false;
        }
        ended = true;
        Exchange.Failed failed = exchange.failed(cause);
        if (!failed.passes()) {
            log.error("{} failed", exchange.claim().key(), cause);
            response.replace(failed.answer());
        }
        return failed.passes();
    }

    private Throwable cause(Throwable thrown) {
        if (thrown() instanceof NotExecuted proof) {
            // The framework knows that the handler was never called.
            return proof;
        }
        return thrown instanceof ServletException && thrown.getCause() != null ? thrown.getCause() : thrown;
    }

    private void end() throws IOException {
        end(() -> {
            CapturedResponse.SentError error = response.takeError();
            Throwable thrown = thrown();
            if (error != null) {
                errorPage.render(request, response, error.status(), error.message(), thrown);
            } else if (thrown != null && response.getStatus() < REFUSAL && (is(UNANSWERED) || is(RETURNED))) {
                // A success that stands for an exception is none.
                log.error("{} failed", exchange.claim().key(), thrown);
                response.reset();
                errorPage.render(request, response, SERVER_ERROR, null, thrown);
            }
        });
    }

    /** What has left the handler, whatever code has answered it. */
    private @Nullable Throwable thrown() {
        return request.getAttribute(OnlyonceFilter.THROWN) instanceof Throwable thrown ? thrown : null;
    }

    private boolean is(String attribute) {
        return request.getAttribute(attribute) != null;
    }

    /** The exception that decides what becomes of the entry; null if the status does. */
    private @Nullable Throwable deciding(int status) {
        Throwable thrown = thrown();
        if (thrown == null || (status < SERVER_ERROR && !is(RETURNED))) {
            return null;
        }
        return exchange.isAnswerRecorded(thrown) ? null : thrown;
    }

    private HttpAnswer settle(HttpAnswer own) {
        if (late) {
            return exchange.finishLate(own);
        }
        Throwable thrown = deciding(own.status());
        if (thrown == null) {
            return exchange.finish(own);
        }
        Exchange.Failed failed = exchange.failed(thrown);
        // A refusal would tell the client that nothing happened.
        return failed.passes() && own.status() >= SERVER_ERROR ? own : failed.answer();
    }

    /** Makes the rest of an answer. */
    private interface Rest {
        void make() throws IOException;
    }

    private synchronized void end(Rest rest) throws IOException {
        if (ended) {
            return;
        }
        HttpAnswer own = answer(rest);
        if (ended) {
            // The last of the text has made it too large to hold.
            return;
        }
        ended = true;
        HttpAnswer answer = settle(own);
        // Everything but the handler's own answer has a body of its own.
        if (answer.body() == own.body()) {
            response.send(answer);
        } else {
            response.replace(answer);
        }
    }

    private HttpAnswer answer(Rest rest) throws IOException {
        try {
            rest.make();
            return response.answer();
        } catch (IOException | RuntimeException | Error broken) {
            if (!ended) {
                ended = true;
                exchange.ambiguous(
                        "its answer could not be made: " + broken.getClass().getName());
            }
            throw broken;
        }
    }

    @Override
    public boolean hasFailed() {
        return thrown() != null;
    }

    @Override
    public synchronized void tooLarge() throws IOException {
        if (ended) {
            return;
        }
        ended = true;
        int status = response.getStatus();
        Throwable thrown = late ? null : deciding(status);
        if (thrown != null) {
            response.replace(exchange.failed(thrown).answer());
            return;
        }
        Exchange.Large large = late
                ? exchange.finishLargeLate(status, response.ownHeaders())
                : exchange.finishLarge(status, response.ownHeaders());
        if (large.streams()) {
            response.stream(large.answer());
        } else {
            response.replace(large.answer());
        }
    }

    private AsyncContext wrap(AsyncContext async) {
        async.addListener(this);
        return new CompletingContext(async, this::end);
    }

    @Override
    public synchronized void onTimeout(AsyncEvent event) {
        late = true;
    }

    @Override
    public synchronized void onError(AsyncEvent event) {
        // What follows is a dispatch that answers it, or the end. The work that was started may not know of it.
        late = true;
    }

    @Override
    public void onStartAsync(AsyncEvent event) {
        event.getAsyncContext().addListener(this);
    }

    @Override
    public synchronized void onComplete(AsyncEvent event) {
        if (!ended) {
            ended = true;
            exchange.ambiguous("the container ended the asynchronous handler");
        }
    }

    /** Renders what {@code sendError} or an exception asks for, into the captured response. */
    interface ErrorPage {
        void render(
                BufferedRequest request,
                CapturedResponse response,
                int status,
                @Nullable String message,
                @Nullable Throwable thrown)
                throws IOException;
    }
}
