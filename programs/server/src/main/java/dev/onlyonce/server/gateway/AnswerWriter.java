package dev.onlyonce.server.gateway;

import dev.onlyonce.http.HttpAnswer;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;

/**
 * Sends a whole answer, slice by slice: the next one is written when the client's connection has taken the one before, so that
 * a client that does not read pins one slice and not a second copy of the answer. The memory of each slice is given back when
 * it is taken. On one event loop.
 */
final class AnswerWriter {
    /** Below the high-water mark of a connection, which a client that reads should not meet with every slice. */
    static final int SLICE_BYTES = 32 << 10;

    private final GatewayLoop loop;
    private final HttpServerRequest request;
    private final HttpServerResponse response;
    private final HttpAnswer answer;
    private final Runnable onEnd;
    private int written;
    private long reserved;
    private long movedNanos;

    /**
     * An answer for whose body memory is reserved already.
     *
     * @param onEnd called once, when the answer is sent or the client is gone
     */
    AnswerWriter(GatewayLoop loop, HttpServerRequest request, HttpAnswer answer, Runnable onEnd) {
        this.loop = loop;
        this.request = request;
        this.response = request.response();
        this.answer = answer;
        this.onEnd = onEnd;
        this.reserved = answer.body().length;
        this.movedNanos = loop.nanos();
    }

    /** When the client last took anything. */
    long movedNanos() {
        return movedNanos;
    }

    void start() {
        try {
            if (response.closed() || response.ended()) {
                end();
            } else {
                begin();
            }
        } catch (RuntimeException | Error e) {
            end();
            throw e;
        }
    }

    private void begin() {
        HttpMessages.head(response, answer);
        int length = answer.body().length;
        boolean bodiless = answer.status() == 204 || answer.status() == 304;
        boolean head = request.method().equals(HttpMethod.HEAD);
        // What was recorded for HEAD has no body either, and so nobody knows how long it would be.
        if (!bodiless && (head ? length > 0 : length > SLICE_BYTES)) {
            response.putHeader(HttpHeaderNames.CONTENT_LENGTH, Integer.toString(length));
        }
        if (bodiless || head) {
            response.end().onComplete(done -> end());
        } else {
            next();
        }
    }

    private void next() {
        byte[] body = answer.body();
        int length = Math.min(SLICE_BYTES, body.length - written);
        Buffer slice = length == body.length
                ? Buffer.buffer(body)
                : Buffer.buffer(length).appendBytes(body, written, length);
        written += length;
        boolean last = written == body.length;
        Future<Void> taken = last ? response.end(slice) : response.write(slice);
        taken.onComplete(done -> {
            movedNanos = loop.nanos();
            release(length);
            if (last || done.failed()) {
                end();
            } else {
                goOn();
            }
        });
    }

    private void goOn() {
        try {
            next();
        } catch (RuntimeException | Error e) {
            // The client went in between, or there is no memory: it must not take the part for the whole.
            end();
            loop.proxy().failed(request, e);
        }
    }

    private void release(long bytes) {
        reserved -= bytes;
        loop.memory().release(bytes);
    }

    private void end() {
        release(reserved);
        onEnd.run();
    }
}
