package dev.onlyonce.servlet;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServlet;
import java.util.EnumSet;
import org.eclipse.jetty.ee11.servlet.FilterHolder;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Spellings of paths in Jetty")
class JettySpellingsTest extends SpellingsContract {
    private final Server server = new Server();

    @Override
    int start(HttpServlet servlet, Filter filter) throws Exception {
        HttpConfiguration lenient = new HttpConfiguration();
        lenient.setUriCompliance(UriCompliance.UNSAFE);
        ServerConnector connector = new ServerConnector(server, new HttpConnectionFactory(lenient));
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler("/shop");
        context.getServletHandler().setDecodeAmbiguousURIs(true);
        context.addServlet(new ServletHolder(servlet), "/payments/*");
        FilterHolder holder = new FilterHolder(filter);
        holder.setAsyncSupported(true);
        context.addFilter(holder, "/*", EnumSet.of(DispatcherType.REQUEST, DispatcherType.ASYNC));
        server.setHandler(context);
        server.start();
        return connector.getLocalPort();
    }

    @Override
    void stop() throws Exception {
        server.stop();
    }
}
