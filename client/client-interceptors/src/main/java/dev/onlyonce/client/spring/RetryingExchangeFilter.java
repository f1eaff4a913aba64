package dev.onlyonce.client.spring;

import dev.onlyonce.client.BusinessId;
import dev.onlyonce.client.CallInDoubt;
import dev.onlyonce.client.CallRequest;
import dev.onlyonce.client.CallResponse;
import dev.onlyonce.client.CallResult;
import dev.onlyonce.client.RetryingClient;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.reactive.function.BodyExtractors;
import org.springframework.web.reactive.function.BodyInserters;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.ExchangeFilterFunction;
import org.springframework.web.reactive.function.client.ExchangeFunction;
import org.springframework.web.reactive.function.client.ExchangeStrategies;
import org.springframework.web.reactive.function.client.WebClientException;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Sends requests of a {@code WebClient} that have the attribute {@link BusinessId#ATTRIBUTE} through a {@link RetryingClient}: its
 * journal, its keys, its policy, and the connections of the {@code WebClient}. Waiting is done on threads of the retrying client. A
 * call in doubt is a {@link CallInDoubt}. The connector must not follow redirects.
 */
public final class RetryingExchangeFilter implements ExchangeFilterFunction {
    private final RetryingClient client;
    private final ExchangeStrategies strategies;

    /** Shares the client. */
    public RetryingExchangeFilter(RetryingClient client) {
        this(client, ExchangeStrategies.withDefaults());
    }

    /** With the codecs of a {@code WebClient} that has its own. */
    public RetryingExchangeFilter(RetryingClient client, ExchangeStrategies strategies) {
        this.client = client;
        this.strategies = strategies;
    }

    @Override
    public Mono<ClientResponse> filter(ClientRequest request, ExchangeFunction next) {
        Optional<Object> id = request.attribute(BusinessId.ATTRIBUTE);
        if (id.isEmpty()) {
            return next.exchange(request);
        }
        return CapturedRequest.of(request, strategies)
                .flatMap(call -> Mono.fromFuture(() -> client.sendAsync(
                        id.get().toString(), call, (attempt, timeout) -> exchange(request, next, attempt, timeout))))
                .flatMap(this::response);
    }

    private CallResponse exchange(ClientRequest request, ExchangeFunction next, CallRequest attempt, Duration timeout)
            throws IOException {
        byte[] body = attempt.body().open().readAllBytes();
        ClientRequest.Builder changed = ClientRequest.from(request)
                .method(HttpMethod.valueOf(attempt.method()))
                .url(attempt.uri())
                .headers(headers -> {
                    headers.clear();
                    attempt.headers().forEach(headers::set);
                });
        if (body.length == 0) {
            changed.body(BodyInserters.empty());
        } else {
            changed.body(BodyInserters.fromValue(body));
        }
        try {
            CallResponse response = next.exchange(changed.build())
                    .flatMap(RetryingExchangeFilter::read)
                    .timeout(timeout)
                    .block();
            if (response == null) {
                throw new IOException("no answer");
            }
            return response;
        } catch (WebClientException e) {
            throw e.getCause() instanceof IOException cause ? cause : new IOException(e);
        } catch (RuntimeException e) {
            Throwable cause = Exceptions.unwrap(e);
            if (cause instanceof TimeoutException) {
                throw new IOException("no whole answer in " + timeout.toMillis() + " ms", e);
            }
            if (cause instanceof IOException failure) {
                throw failure;
            }
            throw e;
        }
    }

    /** Up to a bound; what comes after it is not read. */
    private static Mono<CallResponse> read(ClientResponse answer) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        AtomicBoolean isCut = new AtomicBoolean();
        return answer.body(BodyExtractors.toDataBuffers())
                .takeUntil(part -> {
                    int room = CallResponse.BODY_BYTES_MAX - bytes.size();
                    byte[] read = new byte[Math.min(room, part.readableByteCount())];
                    isCut.set(part.readableByteCount() > room);
                    part.read(read);
                    DataBufferUtils.release(part);
                    bytes.writeBytes(read);
                    return isCut.get();
                })
                .then(Mono.fromSupplier(() -> new CallResponse(
                        answer.statusCode().value(),
                        RetryingRequestInterceptor.map(answer.headers().asHttpHeaders()),
                        bytes.toByteArray(),
                        !isCut.get())));
    }

    private Mono<ClientResponse> response(CallResult result) {
        try {
            CallResponse answer = CallInDoubt.responseOf(result);
            return Mono.just(ClientResponse.create(HttpStatusCode.valueOf(answer.status()), strategies)
                    .headers(headers -> answer.headers().forEach(headers::addAll))
                    .body(Flux.just(DefaultDataBufferFactory.sharedInstance.wrap(answer.body())))
                    .build());
        } catch (CallInDoubt e) {
            return Mono.error(e);
        }
    }
}
