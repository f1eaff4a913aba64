package dev.onlyonce.webflux;

import dev.onlyonce.http.Exchange;
import dev.onlyonce.http.HttpAnswer;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * One execution that holds its claim, from the call of the handler to the answer.
 *
 * <ol>
 *   <li>The handler writes into a {@link CapturedResponse}. An empty {@code Mono} is an answer: 200 without a body.
 *   <li>If an error signal comes out, the application's exception handlers answer it into another captured response.
 *   <li>What was noted of exceptions ({@link HandlerErrors}) and the status decide how the entry is settled.
 *   <li>The answer is sent when the entry is durable.
 * </ol>
 */
final class ProtectedExchange {
    /** Attribute of the exchange: this. */
    static final String ATTRIBUTE = ProtectedExchange.class.getName();

    private static final int SERVER_ERROR = 500;
    private static final Logger log = LoggerFactory.getLogger(ProtectedExchange.class);

    private final Exchange exchange;
    private final ServerWebExchange real;
    private final BufferedRequest request;
    private final Surroundings around;
    private CapturedResponse response;
    private CapturedExchange captured;
    private volatile @Nullable Throwable thrown;
    private volatile boolean returned;
    private volatile boolean settled;

    ProtectedExchange(Exchange exchange, ServerWebExchange real, BufferedRequest request, Surroundings around) {
        this.exchange = exchange;
        this.real = real;
        this.request = request;
        this.around = around;
        this.response = newResponse();
        this.captured = new CapturedExchange(real, request, response, around.codecs());
    }

    private CapturedResponse newResponse() {
        return new CapturedResponse(real.getResponse(), exchange.responseBytesMax(), this::tooLarge);
    }

    /** The first exception decides: a later one comes from code that answers it. */
    void note(Throwable error) {
        if (thrown == null) {
            thrown = error;
        }
    }

    /** As {@link #note}, for an exception while the result was written. */
    void noteWriting(Throwable error, boolean isOfTheResult) {
        if (thrown == null) {
            thrown = error;
            returned = isOfTheResult;
        }
    }

    Mono<Void> run(WebFilterChain chain) {
        CapturedExchange first = captured;
        return Mono.defer(() -> chain.filter(first))
                .then(Mono.defer(() -> response.setComplete()))
                .onErrorResume(this::answer)
                .then(Mono.defer(this::end))
                .doFinally(any -> first.cleanupMultipart().subscribe());
    }

    /** Lets the application answer an error, as it would without the filter. */
    private Mono<Void> answer(Throwable error) {
        if (settled) {
            return Mono.error(error);
        }
        note(error);
        response = newResponse();
        captured = new CapturedExchange(real, request, response, around.codecs());
        Mono<Void> answered = Mono.error(error);
        for (WebExceptionHandler handler : around.errors()) {
            answered = answered.onErrorResume(next -> handler.handle(captured, next));
        }
        return answered.then(Mono.defer(() -> response.setComplete())).onErrorResume(nobody -> unanswered(error));
    }

    private Mono<Void> unanswered(Throwable error) {
        return settled ? Mono.error(error) : fail(error);
    }

    private Mono<Void> fail(Throwable error) {
        settled = true;
        return around.blocking(() -> exchange.failed(error)).flatMap(failed -> {
            if (failed.passes()) {
                return Mono.error(error);
            }
            log.error("{} failed", exchange.key(), error);
            return RealResponse.send(real.getResponse(), failed.answer());
        });
    }

    private Mono<Void> end() {
        if (settled) {
            return Mono.empty();
        }
        settled = true;
        return settle(response.answer()).flatMap(answer -> RealResponse.send(real.getResponse(), answer));
    }

    private Mono<HttpAnswer> settle(HttpAnswer own) {
        if (isLate()) {
            return around.blocking(() -> exchange.finishLate(own));
        }
        Throwable deciding = deciding(own.status());
        if (deciding == null) {
            return Mono.fromCompletionStage(() -> exchange.finish(own, around.loop()));
        }
        return around.blocking(() -> exchange.failed(deciding))
                // A refusal would tell the client that nothing happened.
                .map(failed -> failed.passes() && own.status() >= SERVER_ERROR ? own : failed.answer());
    }

    /** Whether somebody answers for a handler that took too long: what it has begun may go on elsewhere. */
    private boolean isLate() {
        return thrown instanceof TimeoutException;
    }

    /** The exception that decides what becomes of the entry; null if the status does. */
    private @Nullable Throwable deciding(int status) {
        Throwable error = thrown;
        if (error == null || (status < SERVER_ERROR && !returned)) {
            return null;
        }
        return exchange.isAnswerRecorded(error) ? null : error;
    }

    private Mono<Void> tooLarge(Flux<DataBuffer> body) {
        settled = true;
        int status = response.status();
        Throwable deciding = isLate() ? null : deciding(status);
        if (deciding != null) {
            return around.blocking(() -> exchange.failed(deciding).answer())
                    .flatMap(answer -> RealResponse.send(real.getResponse(), answer));
        }
        Mono<Exchange.Large> recorded = around.blocking(() -> isLate()
                ? exchange.finishLargeLate(status, response.ownHeaders())
                : exchange.finishLarge(status, response.ownHeaders()));
        return recorded.flatMap(large -> large.streams()
                ? RealResponse.stream(real.getResponse(), large.answer(), body)
                : body.doOnNext(DataBufferUtils::release).then(RealResponse.send(real.getResponse(), large.answer())));
    }
}
