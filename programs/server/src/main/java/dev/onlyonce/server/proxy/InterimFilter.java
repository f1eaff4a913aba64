package dev.onlyonce.server.proxy;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2FrameListenerDecorator;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.ReferenceCountUtil;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.impl.http1.Http1ClientConnection;
import io.vertx.core.http.impl.http2.codec.Http2ClientConnectionImpl;
import io.vertx.core.http.impl.http2.codec.VertxHttp2ConnectionHandler;
import java.util.Set;

/**
 * Leaves out interim responses of an upstream that Vert.x takes for the final one, such as {@code 102 Processing}: what comes
 * after them is the answer.
 */
final class InterimFilter extends ChannelInboundHandlerAdapter {
    /** Of the handler that turns messages into responses. */
    private static final String READER = "handler";
    /** Continue, Switching Protocols (after which no other response comes), and Early Hints. */
    private static final Set<String> UNDERSTOOD = Set.of("100", "101", "103");

    private boolean skipping;

    /** To be called when a connection to an upstream was opened. */
    static void install(HttpConnection connection) {
        if (connection instanceof Http1ClientConnection http1) {
            http1.channel().pipeline().addBefore(READER, null, new InterimFilter());
        } else if (connection instanceof Http2ClientConnectionImpl http2) {
            Http2ConnectionDecoder decoder = http2.channel()
                    .pipeline()
                    .get(VertxHttp2ConnectionHandler.class)
                    .decoder();
            decoder.frameListener(new Frames(decoder.frameListener()));
        }
    }

    private static boolean isUnknown(CharSequence status) {
        return HttpStatusClass.valueOf(status) == HttpStatusClass.INFORMATIONAL
                && !UNDERSTOOD.contains(status.toString());
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof HttpResponse response) {
            skipping = isUnknown(response.status().codeAsText());
        }
        if (!skipping) {
            context.fireChannelRead(message);
            return;
        }
        ReferenceCountUtil.release(message);
        skipping = !(message instanceof LastHttpContent);
    }

    /** The same for HTTP/2, whose connection has many exchanges at once. */
    private static final class Frames extends Http2FrameListenerDecorator {
        Frames(Http2FrameListener reader) {
            super(reader);
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext context, int stream, Http2Headers headers, int padding, boolean last)
                throws Http2Exception {
            if (!isUnknown(stream, headers, last)) {
                super.onHeadersRead(context, stream, headers, padding, last);
            }
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext context,
                int stream,
                Http2Headers headers,
                int dependency,
                short weight,
                boolean exclusive,
                int padding,
                boolean last)
                throws Http2Exception {
            if (!isUnknown(stream, headers, last)) {
                super.onHeadersRead(context, stream, headers, dependency, weight, exclusive, padding, last);
            }
        }

        /** Not one that ends the stream: after that no answer comes. */
        private static boolean isUnknown(int stream, Http2Headers headers, boolean last) throws Http2Exception {
            CharSequence status = headers.status();
            if (status != null && !StatusCode.isValid(status)) {
                throw Http2Exception.streamError(stream, Http2Error.PROTOCOL_ERROR, "not a status: %s", status);
            }
            return status != null && !last && InterimFilter.isUnknown(status);
        }
    }
}
