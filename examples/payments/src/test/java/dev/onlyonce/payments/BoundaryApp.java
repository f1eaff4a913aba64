package dev.onlyonce.payments;

import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;

/**
 * The application, in which a request stands still for ever at the boundary that it names: before it takes its n-th connection,
 * when all that it did with those before is committed. There the test kills the process. A process that dies before a commit
 * leaves what it left at the boundary before, so these are all the places that differ; and the two at the provider.
 */
final class BoundaryApp {
    static final String HEADER = "Stand-Still-At";
    static final String STANDS = "stands still at ";

    private static final Logger log = LoggerFactory.getLogger(BoundaryApp.class);
    private static final ThreadLocal<int[]> left = new ThreadLocal<>();

    private BoundaryApp() {}

    /** As {@code Main app}. */
    public static void main(String[] arguments) {
        new SpringApplicationBuilder(PaymentsApplication.class, BoundaryApp.class)
                .run(Arrays.copyOfRange(arguments, 1, arguments.length));
    }

    @Bean
    static FilterRegistrationBean<Filter> boundaries() {
        FilterRegistrationBean<Filter> registration = new FilterRegistrationBean<>((request, response, chain) -> {
            String at = ((HttpServletRequest) request).getHeader(HEADER);
            left.set(at == null ? new int[] {-1} : new int[] {Integer.parseInt(at)});
            chain.doFilter(request, response);
        });
        registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
        return registration;
    }

    @Bean
    static BeanPostProcessor watchedConnections() {
        return new BeanPostProcessor() {
            @Override
            public Object postProcessAfterInitialization(Object bean, String name) {
                return bean instanceof DataSource source ? watched(source) : bean;
            }
        };
    }

    private static Object watched(DataSource source) {
        return Proxy.newProxyInstance(
                DataSource.class.getClassLoader(), new Class<?>[] {DataSource.class}, (self, method, arguments) -> {
                    if (method.getName().equals("getConnection") && !isForOthersToo()) {
                        standStill();
                    }
                    try {
                        return method.invoke(source, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /** Who writes for a group of requests would hold up all of them. */
    private static boolean isForOthersToo() {
        return StackWalker.getInstance()
                .walk(frames -> frames.anyMatch(frame -> frame.getClassName().contains("CallQueue")));
    }

    private static void standStill() {
        int[] count = left.get();
        if (count == null || --count[0] != 0) {
            return;
        }
        log.info(STANDS + "a boundary");
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
