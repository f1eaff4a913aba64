package dev.onlyonce.servlet;

import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServlet;
import java.nio.file.Path;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.buf.EncodedSolidusHandling;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("Spellings of paths in Tomcat")
class TomcatSpellingsTest extends SpellingsContract {
    private final Tomcat tomcat = new Tomcat();

    @TempDir
    static Path folder;

    @Override
    int start(HttpServlet servlet, Filter filter) throws LifecycleException {
        tomcat.setBaseDir(folder.toString());
        tomcat.setPort(0);
        Context context = tomcat.addContext("/shop", folder.toString());
        Tomcat.addServlet(context, "payments", servlet).addMapping("/payments/*");
        FilterDef def = new FilterDef();
        def.setFilterName("onlyonce");
        def.setFilter(filter);
        def.setAsyncSupported("true");
        context.addFilterDef(def);
        FilterMap map = new FilterMap();
        map.setFilterName("onlyonce");
        map.addURLPattern("/*");
        context.addFilterMap(map);
        tomcat.getConnector().setAllowBackslash(true);
        tomcat.getConnector().setEncodedSolidusHandling(EncodedSolidusHandling.DECODE.getValue());
        tomcat.getConnector().setProperty("relaxedPathChars", "\\");
        tomcat.start();
        return tomcat.getConnector().getLocalPort();
    }

    @Override
    void stop() throws LifecycleException {
        tomcat.stop();
        tomcat.destroy();
    }
}
