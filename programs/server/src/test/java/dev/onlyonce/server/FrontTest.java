package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.server.config.Listen;
import dev.onlyonce.server.config.Upstream;
import dev.onlyonce.server.proxy.Errors;
import dev.onlyonce.server.proxy.Front;
import dev.onlyonce.server.proxy.MemoryBudget;
import dev.onlyonce.server.proxy.ReservedHeaders;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.RepeatedTest;

@DisplayName("The gateway's face to its clients")
class FrontTest {
    private static final int EVENT_LOOPS = 2;

    @RepeatedTest(3)
    @DisplayName("shares one port between all event loops, also if the system chooses the port")
    void sharesPort() throws Exception {
        Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(EVENT_LOOPS));
        try {
            Set<Thread> used = ConcurrentHashMap.newKeySet();
            List<Front> fronts = new CopyOnWriteArrayList<>();
            Front.Plan plan = new Front.Plan(
                    Listen.plain("127.0.0.1", 0),
                    List.of(Upstream.of(URI.create("http://127.0.0.1:9"))),
                    new ReservedHeaders(List.of(), null),
                    EVENT_LOOPS,
                    new AtomicInteger(),
                    new MemoryBudget(1 << 20, cut -> {}),
                    new Errors(vertx, () -> {}),
                    (proxy, upstreams) -> (request, target, upstream) -> {
                        used.add(Thread.currentThread());
                        request.response().end();
                    });
            vertx.deployVerticle(
                            () -> {
                                Front front = new Front(plan);
                                fronts.add(front);
                                return front;
                            },
                            new DeploymentOptions().setInstances(EVENT_LOOPS))
                    .compose(deployed ->
                            Future.all(fronts.stream().map(Front::listen).toList()))
                    .await(60, TimeUnit.SECONDS);

            assertThat(fronts)
                    .extracting(Front::port)
                    .containsOnly(fronts.get(0).port());
            askOnConnections(fronts.get(0).port(), 2 * EVENT_LOOPS);
            assertThat(used).hasSize(EVENT_LOOPS);
        } finally {
            vertx.close().await(60, TimeUnit.SECONDS);
        }
    }

    /** All connections are open at once, so that they are spread over the event loops. */
    private static void askOnConnections(int port, int count) throws IOException {
        List<Socket> clients = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                Socket client = new Socket(InetAddress.getLoopbackAddress(), port);
                clients.add(client);
                client.setSoTimeout(60_000);
                client.getOutputStream().write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                assertThat(client.getInputStream().read()).isEqualTo('H');
            }
        } finally {
            for (Socket client : clients) {
                client.close();
            }
        }
    }
}
