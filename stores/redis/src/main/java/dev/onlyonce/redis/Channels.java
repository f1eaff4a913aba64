package dev.onlyonce.redis;

import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.DnsResolver;
import io.lettuce.core.resource.NettyCustomizer;
import io.lettuce.core.resource.SocketAddressResolver;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The open TCP connections, and how long each of them has waited for its server. A server that hangs keeps its connections open and
 * silent; Lettuce would wait on them until TCP gives up, long after another server has taken over. Any number of threads.
 */
final class Channels {
    private static final Duration RECONNECT_FIRST = Duration.ofMillis(10);
    /** Lettuce's own is 30 seconds, too long for callers that get 503 meanwhile. */
    private static final Duration RECONNECT_LONGEST = Duration.ofSeconds(1);

    private static final Delay RECONNECT =
            Delay.exponential(RECONNECT_FIRST, RECONNECT_LONGEST, 2, TimeUnit.MILLISECONDS);

    private final Set<Watch> open = ConcurrentHashMap.newKeySet();
    /** How often all were closed. */
    private final AtomicInteger closings = new AtomicInteger();

    private final NettyCustomizer watching = new NettyCustomizer() {
        @Override
        public void afterChannelInitialized(Channel channel) {
            channel.pipeline().addFirst(new Watch());
        }
    };

    /**
     * The same threads, for connections that are watched and made again soon. Not a copy by {@code mutate()}: whoever shuts that down
     * ends the threads of the original, and whoever does not is warned.
     */
    ClientResources watched(ClientResources threads) {
        return watched(threads, threads.socketAddressResolver());
    }

    /** The same, for connections that are all to one server, which may be another each time. */
    ClientResources watched(ClientResources threads, Supplier<RedisURI> server) {
        return watched(threads, new SocketAddressResolver(DnsResolver.unresolved()) {
            @Override
            public SocketAddress resolve(RedisURI uri) {
                return threads.socketAddressResolver().resolve(server.get());
            }
        });
    }

    private ClientResources watched(ClientResources threads, SocketAddressResolver resolver) {
        return (ClientResources) Proxy.newProxyInstance(
                ClientResources.class.getClassLoader(),
                new Class<?>[] {ClientResources.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "nettyCustomizer" -> watching;
                    case "reconnectDelay" -> RECONNECT;
                    case "socketAddressResolver" -> resolver;
                    default -> invoke(threads, method, arguments);
                });
    }

    private static @Nullable Object invoke(ClientResources threads, Method method, Object @Nullable [] arguments)
            throws Throwable {
        try {
            return method.invoke(threads, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }

    /**
     * Closes the connections that have waited for this long and heard nothing. What was sent there stays without an answer; Lettuce
     * connects again, and refuses commands until then.
     */
    void closeSilent(Duration silence) {
        open.stream().filter(watch -> watch.isSilentFor(silence)).forEach(Watch::close);
    }

    /** Closes all, to find out again where the master is. Those too that are being made: they lead to where it was. */
    void closeAll() {
        closings.incrementAndGet();
        open.forEach(Watch::close);
    }

    private final class Watch extends ChannelDuplexHandler {
        private volatile @Nullable ChannelHandlerContext context;
        private volatile long unansweredNanos;
        private volatile boolean isWaiting;
        private final int madeAfter = closings.get();

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            context = ctx;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) throws Exception {
            open.add(this);
            if (closings.get() != madeAfter) {
                var unused = ctx.close();
                return;
            }
            super.channelActive(ctx);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) throws Exception {
            open.remove(this);
            super.channelInactive(ctx);
        }

        @Override
        public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) throws Exception {
            if (!isWaiting) {
                unansweredNanos = System.nanoTime();
                isWaiting = true;
            }
            super.write(ctx, message, promise);
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
            isWaiting = false;
            super.channelRead(ctx, message);
        }

        boolean isSilentFor(Duration silence) {
            return isWaiting && System.nanoTime() - unansweredNanos >= silence.toNanos();
        }

        void close() {
            ChannelHandlerContext opened = context;
            if (opened != null) {
                var unused = opened.close();
            }
        }
    }
}
