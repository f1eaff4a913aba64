package dev.onlyonce.server.observe;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.core.joran.spi.JoranException;
import java.net.URL;
import org.slf4j.LoggerFactory;

/** Log lines for people or for programs. */
public final class Logs {
    private Logs() {}

    /** From now on, one JSON object a line. A configuration that the operator set with {@code logback.configurationFile} stays. */
    public static void json() {
        if (System.getProperty("logback.configurationFile") != null
                || !(LoggerFactory.getILoggerFactory() instanceof LoggerContext context)) {
            return;
        }
        URL configuration = Logs.class.getResource("/logback-json.xml");
        context.reset();
        JoranConfigurator configurator = new JoranConfigurator();
        configurator.setContext(context);
        try {
            configurator.doConfigure(configuration);
        } catch (JoranException e) {
            throw new IllegalStateException("the program's own log configuration is broken", e);
        }
    }
}
