package dev.onlyonce.server.proxy;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.impl.http1.Http1ClientConnection;
import java.util.Set;

/**
 * Leaves out interim responses of an upstream that Vert.x takes for the final one, such as {@code 102 Processing}: what comes
 * after them is the answer.
 */
final class InterimFilter extends ChannelInboundHandlerAdapter {
    /** Of the handler that turns messages into responses. */
    private static final String READER = "handler";
    /** Continue, Switching Protocols (after which no other response comes), and Early Hints. */
    private static final Set<Integer> UNDERSTOOD = Set.of(100, 101, 103);

    private boolean skipping;

    /** To be called when a connection to an upstream was opened. */
    static void install(HttpConnection connection) {
        if (connection instanceof Http1ClientConnection http1) {
            http1.channel().pipeline().addBefore(READER, null, new InterimFilter());
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof HttpResponse response) {
            skipping = response.status().codeClass() == HttpStatusClass.INFORMATIONAL
                    && !UNDERSTOOD.contains(response.status().code());
        }
        if (!skipping) {
            context.fireChannelRead(message);
            return;
        }
        ReferenceCountUtil.release(message);
        skipping = !(message instanceof LastHttpContent);
    }
}
