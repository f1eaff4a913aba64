package dev.onlyonce.jaxrs;

import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers exceptions that no mapper of the application answers: filters never see a response for those otherwise. */
final class UnansweredExceptions implements ExceptionMapper<Throwable> {
    private static final int SERVER_ERROR = 500;
    private static final Logger log = LoggerFactory.getLogger(UnansweredExceptions.class);

    @Override
    public Response toResponse(Throwable thrown) {
        if (!(thrown instanceof WebApplicationException known)) {
            log.error("A resource method failed", thrown);
            return Response.serverError().entity(new Thrown(thrown)).build();
        }
        Response own = known.getResponse();
        return own.getStatus() < SERVER_ERROR || own.hasEntity()
                ? own
                : Response.fromResponse(own).entity(new Thrown(thrown)).build();
    }
}
