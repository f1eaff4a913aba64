package dev.onlyonce.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Operation;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Time;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Serial;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Every way to spell {@code /shop/payments} in containers that are set to understand as many of them as they can. */
abstract class SpellingsContract {
    private static final List<String> CONTEXTS = List.of(
            "/shop",
            "/%73hop",
            "//shop",
            "/./shop",
            "/x/../shop",
            "/shop;a=b",
            "/;/shop",
            "/%2e/shop",
            "/x/..;/shop",
            "/x/%2e%2e/shop",
            "/../shop",
            "///shop",
            "\\shop",
            "/%2fshop",
            "/SHOP",
            "/s%68op");
    private static final List<String> BETWEEN =
            List.of("/", "//", "/./", "/x/../", "/;x/", "/%2e/", "%2f", "\\", "%5c", "/x/..;y/");
    private static final List<String> PAYMENTS = List.of(
            "payments",
            "%70ayments",
            "payments/",
            "payments;v=1",
            "payments/.",
            "payments/x/..",
            "payments%3bv=1",
            "payments/;",
            "payments//",
            "payments%2f",
            "pay%6dents;/");

    /** Starts a container with the servlet at /shop/payments and its subpaths, and the filter before it; returns its port. */
    abstract int start(HttpServlet servlet, Filter filter) throws Exception;

    abstract void stop() throws Exception;

    /** Says whether the filter let the request through protected. */
    private static final class Payments extends HttpServlet {
        @Serial
        private static final long serialVersionUID = 1;

        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
            boolean guarded = request.getAttribute(ProtectedCall.ATTRIBUTE) != null;
            response.getWriter().print(guarded ? "reached-protected" : "reached-bare");
        }
    }

    @Test
    @DisplayName("K4 no spelling of a protected path reaches its servlet unprotected, with a context path too")
    void spellings() throws Exception {
        Time time = Time.system();
        Onlyonce once = Onlyonce.builder(new MemoryStore(time)).time(time).build();
        Boundary boundary = Boundary.builder(once)
                .operation(Operation.builder("POST", "/payments").build())
                .anonymousTenant("everybody")
                .build();
        int port = start(new Payments(), OnlyonceFilter.builder(boundary).build());
        try {
            Set<String> bare = new LinkedHashSet<>();
            int guarded = 0;
            for (String path : all()) {
                String answer = post(port, path);
                guarded += answer.contains("reached-protected") ? 1 : 0;
                if (answer.contains("reached-bare")) {
                    bare.add(path);
                }
            }
            assertThat(bare).isEmpty();
            assertThat(guarded).as("spellings that the container understands").isGreaterThan(100);
        } finally {
            stop();
            once.close();
            time.close();
        }
    }

    private static List<String> all() {
        List<String> all = new ArrayList<>();
        for (String context : CONTEXTS) {
            for (String between : BETWEEN) {
                for (String payments : PAYMENTS) {
                    all.add(context + between + payments);
                }
            }
        }
        return all;
    }

    /** By hand: clients of HTTP correct such paths. */
    private static String post(int port, String path) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(60_000);
            String head = "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nIdempotency-Key: \""
                    + Integer.toHexString(path.hashCode()) + path.length() + "\"\r\nContent-Length: 0\r\n\r\n";
            socket.getOutputStream().write(head.getBytes(StandardCharsets.ISO_8859_1));
            StringBuilder answer = new StringBuilder();
            BufferedReader reader =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                answer.append(line).append('\n');
            }
            return answer.toString();
        }
    }
}
