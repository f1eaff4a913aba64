package dev.onlyonce.jaxrs;

import dev.onlyonce.NotExecuted;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.container.AsyncResponse;
import jakarta.ws.rs.container.Suspended;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.StreamingOutput;
import jakarta.ws.rs.ext.ExceptionMapper;
import java.io.IOException;
import java.io.Serial;
import java.util.concurrent.TimeUnit;

/** Methods that end in every way. */
@Path("/ends")
@Idempotent
public class Ends {
    /** Has a mapper. */
    public static final class Mapped extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1;
    }

    /** As many applications have it. */
    public static final class Mapper implements ExceptionMapper<Mapped> {
        @Override
        public Response toResponse(Mapped thrown) {
            return Response.serverError().entity("mapped").build();
        }
    }

    @POST
    @Path("/nothing")
    public void nothing(@HeaderParam("X-Effect") String effect) {
        Effects.count(effect);
    }

    @POST
    @Path("/throws")
    public String throwing(@HeaderParam("X-Effect") String effect) {
        Effects.count(effect);
        throw new IllegalStateException("broken");
    }

    @POST
    @Path("/mapped")
    public String mapped(@HeaderParam("X-Effect") String effect) {
        Effects.count(effect);
        throw new Mapped();
    }

    @POST
    @Path("/unavailable")
    public String unavailable(@HeaderParam("X-Effect") String effect) {
        Effects.count(effect);
        throw new WebApplicationException(503);
    }

    @POST
    @Path("/refuses")
    public String refuses(@HeaderParam("X-Effect") String effect) {
        Effects.count(effect);
        throw new WebApplicationException(409);
    }

    @POST
    @Path("/not-executed")
    public String notExecuted(@HeaderParam("X-Effect") String effect) {
        Effects.count(effect);
        throw new NotExecuted("the connection was refused");
    }

    @POST
    @Path("/unwritable")
    public StreamingOutput unwritable(@HeaderParam("X-Effect") String effect) {
        Effects.count(effect);
        return out -> {
            out.write(1);
            throw new IOException("the file is damaged");
        };
    }

    @POST
    @Path("/asynchronous")
    public void asynchronous(@HeaderParam("X-Effect") String effect, @Suspended AsyncResponse response) {
        Effects.count(effect);
        new Thread(() -> response.resume("later")).start();
    }

    @POST
    @Path("/late")
    @Idempotent(profile = "stripe")
    public void late(@HeaderParam("X-Effect") String effect, @Suspended AsyncResponse response) {
        Effects.count(effect);
        response.setTimeout(1, TimeUnit.MILLISECONDS);
    }
}
