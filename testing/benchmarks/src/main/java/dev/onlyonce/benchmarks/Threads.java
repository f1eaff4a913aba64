package dev.onlyonce.benchmarks;

import java.lang.reflect.Method;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;

/** Platform threads, and virtual ones where the JDK has them. */
final class Threads {
    private Threads() {}

    static ThreadFactory platform() {
        return task -> {
            Thread thread = new Thread(task, "caller");
            thread.setDaemon(true);
            return thread;
        };
    }

    /** Empty before JDK 21. */
    static Optional<ThreadFactory> virtual() {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Method factory = Class.forName("java.lang.Thread$Builder").getMethod("factory");
            return Optional.of((ThreadFactory) factory.invoke(builder));
        } catch (ReflectiveOperationException e) {
            return Optional.empty();
        }
    }
}
