package dev.onlyonce.server.proxy;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.CombinedChannelDuplexHandler;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestEncoder;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import io.vertx.core.http.impl.http1.Http1ClientConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * HTTP/1.1 with an upstream, so that no answer can be taken for the answer to the next request on the connection. An answer
 * that is given to the wrong key is recorded for it, so a connection is used again only when nothing about it is in doubt:
 *
 * <ol>
 *   <li>the end of an answer is held back until everything that has arrived was read; if bytes follow it, the connection is
 *       not used again;
 *   <li>nor is it after an answer that has no body but says how long it is, or that came before its request was sent;
 *   <li>bytes that arrive without a request end an idle connection.
 * </ol>
 *
 * An upstream may close the connection after its answer. The system tells of that even while reading is paused for a slow
 * client, and Vert.x gives up an answer whose end it has not taken yet; so the connection is closed when it has.
 *
 * <p>Vert.x knows one way to hear that a connection ends, {@code Connection: close} in the answer; this class adds it.
 */
final class UpstreamCodec extends CombinedChannelDuplexHandler<UpstreamCodec.Answers, UpstreamCodec.Requests> {
    /** The name of the handler that this one takes the place of. */
    private static final String NAME = "codec";

    /** How long an upstream may take to read the rest of a request that it has answered already. */
    private static final long LINGER_SECONDS = 5;

    private final Http1ClientConnection connection;
    private final UnexpectedBytes unexpected;
    private HttpMethod method = HttpMethod.GET;
    private boolean inFlight;
    private boolean requestSent;

    private UpstreamCodec(Http1ClientConnection connection, int headerBytesMax, UnexpectedBytes unexpected) {
        this.connection = connection;
        this.unexpected = unexpected;
        HttpDecoderConfig config =
                new HttpDecoderConfig().setMaxInitialLineLength(headerBytesMax).setMaxHeaderSize(headerBytesMax);
        init(new Answers(config), new Requests());
    }

    /** To be called when a connection to an upstream was opened. */
    static void install(Http1ClientConnection connection, int headerBytesMax, UnexpectedBytes unexpected) {
        // The end of what it sends is not the end of the connection: what was read may wait to be taken.
        connection.channel().config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
        // Nor is a write that fails: an upstream may answer and hang up before it has read the request. Reading tells
        // the end.
        connection.channel().config().setOption(ChannelOption.AUTO_CLOSE, false);
        connection.channel().pipeline().replace(NAME, NAME, new UpstreamCodec(connection, headerBytesMax, unexpected));
    }

    /** Writes requests, one after the other. */
    final class Requests extends HttpRequestEncoder {
        @Override
        protected void encode(ChannelHandlerContext context, Object message, List<Object> out) throws Exception {
            if (message instanceof HttpRequest request) {
                method = request.method();
                inFlight = true;
                requestSent = false;
                // The client that got the previous answer may be slow to read it, which must not hold up this one.
                connection.doResume();
            }
            requestSent |= message instanceof LastHttpContent;
            super.encode(context, message, out);
        }
    }

    /** Reads answers. */
    final class Answers extends HttpResponseDecoder {
        /** The final answer, once its head was read. */
        private @Nullable HttpResponse answer;
        /** Its end, held back. */
        private @Nullable LastHttpContent end;

        /** The head of the last answer whose end was let go but not taken yet. */
        private @Nullable HttpResponse untaken;

        private boolean ambiguous;
        private boolean switched;

        private Answers(HttpDecoderConfig config) {
            super(config);
        }

        @Override
        protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) throws Exception {
            if (switched) {
                super.decode(context, in, out);
                return;
            }
            if (end != null || !inFlight) {
                in.skipBytes(in.readableBytes());
                leftOver(context);
                return;
            }
            int produced = out.size();
            super.decode(context, in, out);
            for (int i = produced; i < out.size(); i++) {
                if (out.get(i) instanceof HttpResponse head) {
                    begin(head);
                }
            }
            int last = out.size() - 1;
            if (last >= produced && answer != null && out.get(last) instanceof LastHttpContent whole) {
                out.remove(last);
                end = whole;
                refuseNameless(whole, whole.trailingHeaders());
            }
        }

        /** An answer may end with the connection. */
        @Override
        protected void decodeLast(ChannelHandlerContext context, ByteBuf in, List<Object> out) throws Exception {
            super.decodeLast(context, in, out);
            HttpResponse ended = answer;
            int last = out.size() - 1;
            if (ended != null && last >= 0 && out.get(last) instanceof LastHttpContent whole) {
                close(ended.headers());
                answer = null;
                inFlight = false;
                out.set(last, watched(ended, whole));
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
            super.userEventTriggered(context, event);
            if (event instanceof ChannelInputShutdownEvent) {
                release(context);
                if (untaken == null) {
                    hangUp(context);
                } else {
                    close(untaken.headers());
                }
            }
        }

        /** What was agreed on instead of HTTP ends with the connection. */
        @Override
        protected void handlerRemoved0(ChannelHandlerContext context) throws Exception {
            context.channel().config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, false);
            super.handlerRemoved0(context);
        }

        /** The end of an answer, which notices when it is taken. */
        private LastHttpContent watched(HttpResponse head, LastHttpContent whole) {
            if (whole instanceof HttpResponse) {
                return whole;
            }
            untaken = head;
            LastHttpContent watched = new DefaultLastHttpContent(whole.content(), whole.trailingHeaders()) {
                @Override
                public HttpHeaders trailingHeaders() {
                    untaken = null;
                    return super.trailingHeaders();
                }
            };
            watched.setDecoderResult(whole.decoderResult());
            return watched;
        }

        private static void refuseNameless(HttpObject message, HttpHeaders headers) {
            if (headers.contains("")) {
                message.setDecoderResult(DecoderResult.failure(StrictDecoder.nameless()));
            }
        }

        /** We ask for nothing but chunks; without its label, which is for one hop, nobody could read the body. */
        private static void refuseEncoded(HttpResponse head) {
            for (String encoding : head.headers().getAll(HttpHeaderNames.TRANSFER_ENCODING)) {
                boolean plain = HttpHeaderValues.CHUNKED.contentEqualsIgnoreCase(encoding.trim())
                        || HttpHeaderValues.IDENTITY.contentEqualsIgnoreCase(encoding.trim());
                if (!plain) {
                    head.setDecoderResult(DecoderResult.failure(
                            new IllegalArgumentException("not a transfer encoding that was asked for")));
                }
            }
        }

        private void leftOver(ChannelHandlerContext context) {
            unexpected.seen();
            ambiguous = true;
            if (end == null) {
                hangUp(context);
            }
        }

        private void begin(HttpResponse head) {
            refuseNameless(head, head.headers());
            refuseEncoded(head);
            switched = head.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS);
            answer = head.status().codeClass() == HttpStatusClass.INFORMATIONAL ? null : head;
        }

        @Override
        protected HttpMessage createMessage(String[] line) {
            // Anything else is no status, and Vert.x, which goes by the number, would take 600 for one.
            String status = line[1];
            if (!StatusCode.isValid(status)) {
                throw new IllegalArgumentException("not a status: " + status);
            }
            return super.createMessage(line);
        }

        @Override
        protected boolean isContentAlwaysEmpty(HttpMessage message) {
            HttpResponseStatus status = ((HttpResponse) message).status();
            boolean empty = super.isContentAlwaysEmpty(message);
            if (status.codeClass() == HttpStatusClass.INFORMATIONAL) {
                return empty;
            }
            empty |= method.equals(HttpMethod.HEAD) || status.equals(HttpResponseStatus.RESET_CONTENT);
            ambiguous |= empty && hasLength(message.headers());
            return empty;
        }

        private static boolean hasLength(HttpHeaders headers) {
            String length = headers.get(HttpHeaderNames.CONTENT_LENGTH);
            return headers.contains(HttpHeaderNames.TRANSFER_ENCODING) || (length != null && !length.equals("0"));
        }

        @Override
        protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
            ambiguous = true;
            super.handleTransferEncodingChunkedWithContentLength(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) throws Exception {
            release(context);
            super.channelReadComplete(context);
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) throws Exception {
            release(context);
            super.channelInactive(context);
        }

        /** Lets the end of the answer go, after which the connection may be used again at once. */
        private void release(ChannelHandlerContext context) {
            HttpResponse ended = answer;
            LastHttpContent held = end;
            if (ended == null || held == null) {
                return;
            }
            boolean unsent = !requestSent || hasUnsent(context);
            if (ambiguous || unsent || unexpected.isRecent() || saysClose(ended.headers())) {
                close(ended.headers());
            }
            answer = null;
            end = null;
            inFlight = false;
            boolean sent = requestSent;
            context.fireChannelRead(watched(ended, held));
            if (!sent) {
                // Nobody can use it before its request ends, which would end it for good.
                hangUpWhenTaken(context);
            } else if (unsent) {
                hangUpLater(context);
            }
        }

        private void hangUpWhenTaken(ChannelHandlerContext context) {
            if (untaken == null) {
                hangUp(context);
            } else {
                hangUpLater(context);
            }
        }

        private void hangUpLater(ChannelHandlerContext context) {
            if (context.channel().isOpen()) {
                var unused =
                        context.executor().schedule(() -> hangUpWhenTaken(context), LINGER_SECONDS, TimeUnit.SECONDS);
            }
        }

        private static void hangUp(ChannelHandlerContext context) {
            var unused = context.close();
        }

        private static boolean hasUnsent(ChannelHandlerContext context) {
            ChannelOutboundBuffer buffer = context.channel().unsafe().outboundBuffer();
            return buffer != null && buffer.totalPendingWriteBytes() > 0;
        }

        /** Vert.x sees it only where it stands alone. */
        private static boolean saysClose(HttpHeaders headers) {
            return headers.containsValue(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE, true);
        }

        /** In front: Vert.x looks at the first, and the others name header lines that are for one hop only. */
        private static void close(HttpHeaders headers) {
            List<CharSequence> values = new ArrayList<>();
            values.add(HttpHeaderValues.CLOSE);
            values.addAll(headers.getAll(HttpHeaderNames.CONNECTION));
            headers.set(HttpHeaderNames.CONNECTION, values);
        }
    }
}
