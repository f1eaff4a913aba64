package dev.onlyonce.jaxrs;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** How often methods ran, and gates at which they wait. */
@Path("/")
public class Effects {
    private static final Map<String, AtomicInteger> COUNTS = new ConcurrentHashMap<>();
    private static final Map<String, CountDownLatch> GATES = new ConcurrentHashMap<>();

    static int count(String effect) {
        return COUNTS.computeIfAbsent(effect, id -> new AtomicInteger()).incrementAndGet();
    }

    static int counted(String effect) {
        return COUNTS.getOrDefault(effect, new AtomicInteger()).get();
    }

    static CountDownLatch gate(String id) {
        return GATES.computeIfAbsent(id, any -> new CountDownLatch(1));
    }

    @GET
    @Path("/effects/{id}")
    @Produces("text/plain")
    public String effects(@PathParam("id") String id) {
        return String.valueOf(counted(id));
    }

    @POST
    @Path("/gates/{id}")
    public void open(@PathParam("id") String id) {
        gate(id).countDown();
    }
}
