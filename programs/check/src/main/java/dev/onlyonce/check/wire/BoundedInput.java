package dev.onlyonce.check.wire;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;

/** What a socket receives, within a time that begins with the first read: a server that drips bytes does not hold us up. */
final class BoundedInput extends InputStream {
    private final Socket socket;
    private final long patienceNanos;
    private long deadline;

    BoundedInput(Socket socket, Duration patience) {
        this.socket = socket;
        this.patienceNanos = patience.toNanos();
    }

    @Override
    public int available() throws IOException {
        return socket.getInputStream().available();
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int from, int length) throws IOException {
        long now = System.nanoTime();
        if (deadline == 0) {
            deadline = now + patienceNanos;
        }
        long left = Duration.ofNanos(deadline - now).toMillis();
        if (left <= 0) {
            throw new SocketTimeoutException("the answer takes too long");
        }
        socket.setSoTimeout((int) left);
        return socket.getInputStream().read(bytes, from, length);
    }
}
