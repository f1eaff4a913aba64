package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.resource.ClientResources;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ChannelsTest {
    private static final int PATIENCE_MILLIS = 20_000;

    /** How many the kernel lets wait for a server that asks for one. It answers nobody else until they are accepted. */
    private static final int WAITING = 2;

    private static final long PAUSE_NANOS = Duration.ofMillis(5).toNanos();

    private static boolean isBeingMade(int port) throws IOException {
        String synSent = String.format(":%04X 02 ", port);
        for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
            Path path = Path.of(table);
            if (Files.exists(path) && Files.readString(path).contains(synSent)) {
                return true;
            }
        }
        return false;
    }

    @Test
    @Timeout(60)
    @DisplayName("E4 a connection that was being made when all were closed leads to the old master, and is closed too")
    void beingMade() throws Exception {
        ClientResources resources = ClientResources.create();
        Channels channels = new Channels();
        List<Socket> before = new ArrayList<>();
        try (ServerSocket old = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            old.setSoTimeout(PATIENCE_MILLIS);
            for (int i = 0; i < WAITING; i++) {
                before.add(new Socket(old.getInetAddress(), old.getLocalPort()));
            }
            RedisURI uri = RedisURI.create("127.0.0.1", old.getLocalPort());
            try (RedisClient client = RedisClient.create(channels.watched(resources, () -> uri), uri)) {
                uri.setTimeout(Duration.ofMillis(PATIENCE_MILLIS));
                var connecting =
                        client.connectAsync(ByteArrayCodec.INSTANCE, uri).toCompletableFuture();
                while (!isBeingMade(old.getLocalPort())) {
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
                channels.closeAll();
                for (int i = 0; i < WAITING; i++) {
                    before.add(old.accept());
                }
                try (Socket made = old.accept()) {
                    made.setSoTimeout(PATIENCE_MILLIS);
                    assertThat(made.getInputStream().read())
                            .as("what the old master gets")
                            .isEqualTo(-1);
                }
                connecting.cancel(true);
            }
        } finally {
            for (Socket socket : before) {
                socket.close();
            }
            resources.shutdown(0, 1, TimeUnit.SECONDS).get();
        }
    }
}
