package dev.onlyonce.server;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/** A client of HTTP/2 over TLS that sends exactly the frames it is asked to, and reads only when asked to. */
final class RawHttp2Client implements AutoCloseable {
    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int RST_STREAM = 3;
    static final int SETTINGS = 4;
    static final int GOAWAY = 7;
    static final int WINDOW_UPDATE = 8;

    private static final int END_STREAM_AND_HEADERS = 5;
    private static final int ACK = 1;
    private static final short INITIAL_WINDOW_SIZE = 4;

    private final SSLSocket socket;
    private final OutputStream out;
    private int nextStream = 1;

    /** A frame that came. */
    record Frame(int type, int flags, int stream, byte[] payload) {}

    /** Connects, and grants so many bytes of each answer before more are granted. */
    RawHttp2Client(SSLContext trusting, int port, int windowBytes) throws IOException {
        socket = (SSLSocket) trusting.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(new String[] {"h2"});
        socket.setSSLParameters(parameters);
        socket.setSoTimeout(60_000);
        socket.startHandshake();
        out = socket.getOutputStream();
        out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        frame(
                SETTINGS,
                0,
                0,
                ByteBuffer.allocate(6)
                        .putShort(INITIAL_WINDOW_SIZE)
                        .putInt(windowBytes)
                        .array());
    }

    /** Sends a request without a body; returns its stream. */
    int request(String method, String path, String key) throws IOException {
        int stream = nextStream;
        nextStream += 2;
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        field(head, ":method", method);
        field(head, ":scheme", "https");
        field(head, ":authority", "localhost");
        field(head, ":path", path);
        field(head, "idempotency-key", key);
        frame(HEADERS, END_STREAM_AND_HEADERS, stream, head.toByteArray());
        return stream;
    }

    /** A literal without indexing, without Huffman coding. */
    private static void field(ByteArrayOutputStream head, String name, String value) {
        head.write(0);
        head.write(name.length());
        head.writeBytes(name.getBytes(StandardCharsets.US_ASCII));
        head.write(value.length());
        head.writeBytes(value.getBytes(StandardCharsets.US_ASCII));
    }

    void acknowledgeSettings() throws IOException {
        frame(SETTINGS, ACK, 0, new byte[0]);
    }

    void grant(int stream, int bytes) throws IOException {
        frame(WINDOW_UPDATE, 0, stream, ByteBuffer.allocate(4).putInt(bytes).array());
    }

    /** Waits for the next frame. */
    Frame read() throws IOException {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        int lengthAndType = in.readInt();
        int flags = in.readUnsignedByte();
        int stream = in.readInt();
        return new Frame(lengthAndType & 0xff, flags, stream, in.readNBytes(lengthAndType >>> 8));
    }

    private void frame(int type, int flags, int stream, byte[] payload) throws IOException {
        out.write(ByteBuffer.allocate(9 + payload.length)
                .putInt(payload.length << 8 | type)
                .put((byte) flags)
                .putInt(stream)
                .put(payload)
                .array());
        out.flush();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
