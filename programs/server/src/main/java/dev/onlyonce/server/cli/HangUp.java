package dev.onlyonce.server.cli;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * SIGHUP, by which services are asked to read their configuration again. Java has it in {@code sun.misc} alone, which compilers warn about:
 * so it is called by name.
 */
final class HangUp {
    private static final Logger log = LoggerFactory.getLogger(HangUp.class);

    private HangUp() {}

    /** Does this on each SIGHUP, on a thread of its own, instead of ending the process. Does nothing where there are no such signals. */
    static void handle(Runnable work) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            InvocationHandler answering = (proxy, method, arguments) -> switch (method.getName()) {
                case "equals" -> proxy == arguments[0];
                case "hashCode" -> System.identityHashCode(proxy);
                case "toString" -> "reload";
                default -> {
                    work.run();
                    yield null;
                }
            };
            Object reload = Proxy.newProxyInstance(HangUp.class.getClassLoader(), new Class<?>[] {handler}, answering);
            signal.getMethod("handle", signal, handler)
                    .invoke(null, signal.getConstructor(String.class).newInstance("HUP"), reload);
        } catch (ReflectiveOperationException | IllegalArgumentException e) {
            log.info("SIGHUP does not reload the configuration here: {}", String.valueOf(e.getCause()));
        }
    }
}
