package dev.onlyonce.spring.console;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.http.admin.AdminHandler;
import dev.onlyonce.http.admin.AdminParts;
import dev.onlyonce.http.admin.ApplicationAccess;
import dev.onlyonce.http.admin.Caller;
import dev.onlyonce.http.admin.LocalOperator;
import dev.onlyonce.http.admin.NodeWatch;
import dev.onlyonce.servlet.ConsoleServlet;
import dev.onlyonce.spring.OnlyonceProperties;
import dev.onlyonce.spring.operations.InvalidSettings;
import dev.onlyonce.spring.outbox.OnlyonceOutboxAutoConfiguration;
import dev.onlyonce.spring.store.OnlyonceAutoConfiguration;
import dev.onlyonce.spring.web.OnlyonceWebAutoConfiguration;
import dev.onlyonce.spring.web.WebProtection;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.store.Time;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.web.HttpRequestHandler;
import org.springframework.web.servlet.handler.SimpleUrlHandlerMapping;

/** The console, if it is enabled. The application's own security decides who may use it. */
@AutoConfiguration(
        after = {
            OnlyonceAutoConfiguration.class,
            OnlyonceWebAutoConfiguration.class,
            OnlyonceOutboxAutoConfiguration.class
        })
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({HttpRequestHandler.class, SimpleUrlHandlerMapping.class})
@ConditionalOnProperty("onlyonce.console.enabled")
@ConditionalOnBean(Onlyonce.class)
public class OnlyonceConsoleAutoConfiguration {
    private static final Logger log = LoggerFactory.getLogger(OnlyonceConsoleAutoConfiguration.class);
    /** Before controllers: one that takes every path must not swallow it. */
    private static final int ORDER = -10;

    private static final String SECURITY = "org.springframework.security.web.SecurityFilterChain";

    /** Receives events as every listener does. */
    @Bean
    NodeWatch onlyonceNodeWatch(Time time) {
        return new NodeWatch(time);
    }

    @Bean
    SimpleUrlHandlerMapping onlyonceConsole(
            OnlyonceProperties properties,
            Onlyonce once,
            NodeWatch watch,
            ObjectProvider<WebProtection> web,
            ObjectProvider<Outbox> outbox,
            ListableBeanFactory beans,
            Environment environment) {
        OnlyonceProperties.ConsoleSettings settings = properties.console();
        String base = base(settings.path());
        boolean secured = isSecured(beans);
        boolean loopback = !secured && !isBehindProxies(environment);
        log.info("The console is at {}/ for {}", base, who(settings, secured, loopback));
        AdminParts parts = new AdminParts(
                once,
                once.registry().store(),
                new ApplicationProgram(web, properties, settings.home() != null),
                outbox.getIfUnique(),
                null,
                watch);
        ApplicationAccess access = new ApplicationAccess(new ApplicationAccess.Sight(
                loopback ? Optional.of("loopback") : Optional.empty(),
                settings.readersSeeKeys(),
                settings.payloads() != OnlyonceProperties.Payloads.NOBODY,
                settings.payloads() == OnlyonceProperties.Payloads.EVERYBODY));
        AdminHandler handler =
                new AdminHandler(new LocalOperator(parts, "application", () -> {}), access, settings.home());
        ConsoleServlet servlet = new ConsoleServlet(handler, base, request -> role(settings, request));
        HttpRequestHandler answering = servlet::service;
        return new SimpleUrlHandlerMapping(Map.of(base, answering, base + "/**", answering), ORDER);
    }

    private static boolean isSecured(ListableBeanFactory beans) {
        ClassLoader classes = OnlyonceConsoleAutoConfiguration.class.getClassLoader();
        return ClassUtils.isPresent(SECURITY, classes)
                && beans.getBeanNamesForType(ClassUtils.resolveClassName(SECURITY, classes), true, false).length > 0;
    }

    private static Caller.@Nullable Role role(OnlyonceProperties.ConsoleSettings settings, HttpServletRequest request) {
        if (request.isUserInRole(settings.operatorRole())) {
            return Caller.Role.OPERATOR;
        }
        return request.isUserInRole(settings.readerRole()) ? Caller.Role.READER : null;
    }

    private static String base(String path) {
        if (!path.matches("(/[A-Za-z0-9_-]+)+")) {
            throw new InvalidSettings(
                    "onlyonce.console.path=" + path + " is no path that a console can be at",
                    "Write a path of its own such as /onlyonce, without a slash at the end.",
                    null);
        }
        return path;
    }

    /** Then an address of the client is what a header says. */
    private static boolean isBehindProxies(Environment environment) {
        String strategy = environment.getProperty("server.forward-headers-strategy", "none");
        return !strategy.equalsIgnoreCase("none");
    }

    private static String who(OnlyonceProperties.ConsoleSettings settings, boolean secured, boolean loopback) {
        if (loopback) {
            return "requests from this machine's loopback interface only, because nothing here authenticates users;"
                    + " users that a filter authenticates need the role " + settings.operatorRole() + " or "
                    + settings.readerRole();
        }
        return "users with the role " + settings.operatorRole() + ", and for those with the role "
                + settings.readerRole() + " to look at"
                + (secured
                        ? ""
                        : "; nothing here authenticates users, and clients come through proxies, so that is nobody"
                                + " yet");
    }
}
