package dev.onlyonce.servlet;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.http.Exchange;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.Operation;
import dev.onlyonce.http.StoredResponse;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One protected request that an {@link Execution} executes.
 *
 * <ol>
 *   <li>What the profile does not store, an exception, and whatever else marks the transaction for it, roll everything back:
 *       that nothing happened is proven, and the next retry runs.
 *   <li>A refusal that the profile stores although the transaction was rolled back (a service threw it) is recorded afterwards
 *       by itself. A success that was rolled back is none, and fails.
 * </ol>
 */
final class TransactionalCall implements CapturedResponse.Owner {
    private static final int REFUSAL = 400;
    private static final Logger log = LoggerFactory.getLogger(TransactionalCall.class);

    private final Exchange exchange;
    private final Operation operation;
    private final BufferedRequest request;
    private final CapturedResponse response;
    private final ProtectedCall.ErrorPage errorPage;
    private @Nullable HttpAnswer own;

    TransactionalCall(
            Exchange exchange, BufferedRequest request, HttpServletResponse real, ProtectedCall.ErrorPage errorPage) {
        this.exchange = exchange;
        this.operation = exchange.operation();
        this.request = request;
        this.response = new CapturedResponse(real, Policy.RESULT_BYTES_MAX, this);
        this.errorPage = errorPage;
        request.capturedBy(response, context -> {
            throw new IllegalStateException(operation.name()
                    + " runs on the thread of its transaction or its steps, which asynchronous work would"
                    + " leave: use the leased way");
        });
    }

    void run(Execution execution, FilterChain chain) throws IOException, ServletException {
        try {
            Execution.Call call = new Execution.Call(operation, exchange.key(), exchange.fingerprint(), request);
            Outcome<byte[]> outcome = execution.execute(call, newKey -> {
                exchange.started(newKey);
                return handle(chain);
            });
            if (outcome instanceof Outcome.Executed<byte[]> executed) {
                sendOwn(exchange.answers().own(requireNonNull(own), executed.expiresAt()));
            } else {
                response.replace(answer(outcome));
            }
        } catch (Execution.Released e) {
            sendFreed(requireNonNull(own));
        } catch (Execution.RolledBack e) {
            sendRolledBack(e);
        } catch (StoreOutcomeUnknown e) {
            response.replace(exchange.answers().notRecorded(e));
        } catch (StoreException e) {
            response.replace(exchange.answers().storeUnavailable(e));
        } catch (RuntimeException | Error e) {
            if (own != null && response.isHeld()) {
                // The handler has answered, and what it says it has done was undone at the commit.
                response.reset();
            }
            throw e;
        } finally {
            exchange.release();
        }
    }

    private byte[] handle(FilterChain chain) throws IOException, ServletException {
        chain.doFilter(request, response);
        CapturedResponse.SentError error = response.takeError();
        if (error != null) {
            errorPage.render(request, response, error.status(), error.message(), null);
        }
        own = response.answer();
        if (!operation.profile().isStored(own.status())) {
            throw new Execution.RolledBack();
        }
        return StoredResponse.encode(own, operation.policy().resultBytesMax());
    }

    /** Not the handler's own. If the handler ran, this is no replay; its Location says where to ask for a later result. */
    private HttpAnswer answer(Outcome<byte[]> outcome) {
        if (own == null) {
            return exchange.answers().to(outcome);
        }
        HttpAnswer answer = exchange.answers().first(outcome);
        Optional<String> location = own.headers().first("Location");
        return outcome instanceof Outcome.InFlight && location.isPresent()
                ? answer.header("Location", location.get())
                : answer;
    }

    private void sendRolledBack(Execution.RolledBack rolledBack) throws IOException {
        HttpAnswer answered = requireNonNull(own);
        if (!operation.profile().isStored(answered.status())) {
            sendFreed(answered);
            return;
        }
        if (answered.status() < REFUSAL) {
            // What it says it has done is undone.
            response.reset();
            throw rolledBack;
        }
        HttpAnswer answer = exchange.record(answered);
        if (answer.body() == answered.body()) {
            sendOwn(answer);
        } else {
            response.replace(answer);
        }
    }

    private void sendFreed(HttpAnswer answer) throws IOException {
        log.info("{} is free again: status {}. The next retry runs.", exchange.key(), answer.status());
        sendOwn(answer);
    }

    private void sendOwn(HttpAnswer answer) throws IOException {
        response.send(exchange.answers().own(answer, null));
    }

    @Override
    public boolean hasFailed() {
        return request.getAttribute(OnlyonceFilter.THROWN) != null;
    }

    @Override
    public void tooLarge() throws IOException {
        throw new IOException("the response of " + operation.name() + " is larger than " + Policy.RESULT_BYTES_MAX
                + " bytes, too large to be held until its transaction commits: use the leased way");
    }
}
