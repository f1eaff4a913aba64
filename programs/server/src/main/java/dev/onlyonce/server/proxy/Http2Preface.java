package dev.onlyonce.server.proxy;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import java.nio.charset.StandardCharsets;

/**
 * Clients that begin with HTTP/2 on a connection without TLS, because they believe that the gateway speaks it there. They get an
 * answer in HTTP/2: use HTTP/1.1.
 */
final class Http2Preface {
    /** RFC 9113, section 3.4. */
    private static final byte[] PREFACE = "PRI * HTTP/2.0".getBytes(StandardCharsets.US_ASCII);

    private static final int SETTINGS = 0x4;
    private static final int GOAWAY = 0x7;
    private static final int HTTP_1_1_REQUIRED = 0xd;
    private static final byte[] WHY =
            "without TLS this gateway speaks HTTP/1.1 only".getBytes(StandardCharsets.US_ASCII);

    private Http2Preface() {}

    /** Whether a connection begins with it. */
    enum Match {
        YES,
        NO,
        /** Too little has arrived. */
        UNDECIDED
    }

    static Match match(ByteBuf in) {
        int length = Math.min(PREFACE.length, in.readableBytes());
        for (int i = 0; i < length; i++) {
            if (in.getByte(in.readerIndex() + i) != PREFACE[i]) {
                return Match.NO;
            }
        }
        return length == PREFACE.length ? Match.YES : Match.UNDECIDED;
    }

    /** Sends empty settings, which a server must send first, and the end of the connection with its reason. */
    static void refuse(ChannelHandlerContext context) {
        ByteBuf frames = context.alloc().buffer();
        frame(frames, 0, SETTINGS);
        frame(frames, 2 * Integer.BYTES + WHY.length, GOAWAY);
        // No stream was accepted.
        frames.writeInt(0);
        frames.writeInt(HTTP_1_1_REQUIRED);
        frames.writeBytes(WHY);
        var unused = context.writeAndFlush(frames).addListener(ChannelFutureListener.CLOSE);
    }

    private static void frame(ByteBuf out, int length, int type) {
        out.writeMedium(length);
        out.writeByte(type);
        out.writeByte(0);
        out.writeInt(0);
    }
}
