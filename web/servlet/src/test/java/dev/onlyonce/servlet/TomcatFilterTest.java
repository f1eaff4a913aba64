package dev.onlyonce.servlet;

import jakarta.servlet.MultipartConfigElement;
import java.nio.file.Path;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.Wrapper;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The filter in Tomcat")
@Order(1)
class TomcatFilterTest extends FilterContract {
    private final Tomcat tomcat = new Tomcat();

    @TempDir
    static Path folder;

    @Override
    int start(TestServlet servlet, OnlyonceFilter filter) throws LifecycleException {
        tomcat.setBaseDir(folder.toString());
        tomcat.setPort(0);
        Context context = tomcat.addContext("", folder.toString());
        // Otherwise Tomcat 11 throws away what is written after a forward, and with it every captured response.
        ((StandardContext) context).setSuspendWrappedResponseAfterForward(false);
        Wrapper wrapper = Tomcat.addServlet(context, "app", servlet);
        wrapper.setAsyncSupported(true);
        wrapper.setMultipartConfigElement(new MultipartConfigElement(folder.toString()));
        wrapper.addMapping("/app/*");
        wrapper = Tomcat.addServlet(context, "default", "org.apache.catalina.servlets.DefaultServlet");
        wrapper.setAsyncSupported(true);
        wrapper.addMapping("/");
        add(context, "outer", new OuterFilter());
        add(context, "onlyonce", filter);
        tomcat.getConnector();
        tomcat.start();
        return tomcat.getConnector().getLocalPort();
    }

    private static void add(Context context, String name, jakarta.servlet.Filter filter) {
        FilterDef def = new FilterDef();
        def.setFilterName(name);
        def.setFilter(filter);
        def.setAsyncSupported("true");
        context.addFilterDef(def);
        FilterMap map = new FilterMap();
        map.setFilterName(name);
        map.addURLPattern("/*");
        map.setDispatcher("REQUEST");
        if (name.equals("onlyonce")) {
            map.setDispatcher("ASYNC");
        }
        context.addFilterMap(map);
    }

    @Override
    void stop() throws LifecycleException {
        tomcat.stop();
        tomcat.destroy();
    }
}
