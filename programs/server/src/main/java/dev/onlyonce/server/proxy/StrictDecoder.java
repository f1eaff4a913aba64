package dev.onlyonce.server.proxy;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.LastHttpContent;
import io.vertx.core.http.Http1ServerConfig;
import io.vertx.core.http.impl.http1.VertxHttpRequestDecoder;
import java.util.List;

/**
 * Refuses folded header lines and those without a name. Netty joins the former silently, where the next server may see two
 * headers, and keeps the latter, which the next server may read as anything; everything else that
 * servers read differently (both lengths, two lengths, bare line feeds, white space before the colon) it refuses itself.
 *
 * <p>The decoder that this extends consumes a head in whole lines, so whenever it is called between two messages the buffer
 * starts at the beginning of a line.
 */
final class StrictDecoder extends VertxHttpRequestDecoder {
    /** The name of the handler that this one takes the place of. */
    static final String NAME = "httpDecoder";

    private boolean first = true;
    private boolean inHead = true;
    private boolean afterFirstLine;
    private boolean bad;

    StrictDecoder(Http1ServerConfig config) {
        super(config);
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) throws Exception {
        if (bad) {
            in.skipBytes(in.readableBytes());
            return;
        }
        Http2Preface.Match match = first ? Http2Preface.match(in) : Http2Preface.Match.NO;
        if (match == Http2Preface.Match.UNDECIDED) {
            return;
        }
        first = false;
        if (match == Http2Preface.Match.YES) {
            bad = true;
            in.skipBytes(in.readableBytes());
            Http2Preface.refuse(context);
            return;
        }
        if (inHead && hasFold(in)) {
            bad = true;
            in.skipBytes(in.readableBytes());
            HttpMessage refused = createInvalidMessage();
            refused.setDecoderResult(
                    DecoderResult.failure(new IllegalArgumentException("folded header lines are not accepted")));
            out.add(refused);
            return;
        }
        int start = in.readerIndex();
        int produced = out.size();
        super.decode(context, in, out);
        if (inHead && in.readerIndex() > start) {
            afterFirstLine |= !isOnlyLineEnds(in, start);
        }
        for (int i = produced; i < out.size(); i++) {
            Object message = out.get(i);
            if (message instanceof HttpMessage head && head.headers().contains("")) {
                bad = true;
                head.setDecoderResult(DecoderResult.failure(nameless()));
            }
            inHead = message instanceof LastHttpContent;
            if (inHead) {
                afterFirstLine = false;
            }
        }
    }

    static IllegalArgumentException nameless() {
        return new IllegalArgumentException("a header line has no name");
    }

    private boolean hasFold(ByteBuf in) {
        int at = in.readerIndex();
        int end = in.writerIndex();
        if (!afterFirstLine) {
            at = skipLineEnds(in, at);
        } else if (at < end && isBlank(in.getByte(at))) {
            return true;
        }
        while (at < end) {
            int lineEnd = in.indexOf(at, end, (byte) '\n');
            if (lineEnd < 0 || lineEnd + 1 >= end) {
                return false;
            }
            byte next = in.getByte(lineEnd + 1);
            if (isBlank(next)) {
                return true;
            }
            if (next == '\r' || next == '\n') {
                return false;
            }
            at = lineEnd + 1;
        }
        return false;
    }

    private static boolean isBlank(byte b) {
        return b == ' ' || b == '\t';
    }

    private static int skipLineEnds(ByteBuf in, int from) {
        int at = from;
        while (at < in.writerIndex() && (in.getByte(at) == '\r' || in.getByte(at) == '\n')) {
            at++;
        }
        return at;
    }

    /** Whether what was consumed was only the empty lines that may stand in front of a message. */
    private static boolean isOnlyLineEnds(ByteBuf in, int start) {
        return skipLineEnds(in, start) >= in.readerIndex();
    }
}
