package dev.onlyonce.servlet;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.MultipartConfigElement;
import java.nio.file.Path;
import java.util.EnumSet;
import org.eclipse.jetty.ee11.servlet.FilterHolder;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The filter in Jetty")
class JettyFilterTest extends FilterContract {
    private final Server server = new Server(0);

    @TempDir
    static Path folder;

    @Override
    int start(TestServlet servlet, OnlyonceFilter filter) throws Exception {
        ServletContextHandler context = new ServletContextHandler();
        ServletHolder holder = new ServletHolder(servlet);
        holder.setAsyncSupported(true);
        holder.getRegistration().setMultipartConfig(new MultipartConfigElement(folder.toString()));
        context.addServlet(holder, "/app/*");
        add(context, new OuterFilter(), EnumSet.of(DispatcherType.REQUEST));
        add(context, filter, EnumSet.of(DispatcherType.REQUEST, DispatcherType.ASYNC));
        server.setHandler(context);
        server.start();
        return ((ServerConnector) server.getConnectors()[0]).getLocalPort();
    }

    private static void add(
            ServletContextHandler context, jakarta.servlet.Filter filter, EnumSet<DispatcherType> dispatches) {
        FilterHolder holder = new FilterHolder(filter);
        holder.setAsyncSupported(true);
        context.addFilter(holder, "/*", dispatches);
    }

    @Override
    void stop() throws Exception {
        server.stop();
    }
}
