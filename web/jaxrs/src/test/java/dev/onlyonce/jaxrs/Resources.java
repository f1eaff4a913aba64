package dev.onlyonce.jaxrs;

import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.FormParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.PATCH;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.StreamingOutput;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.concurrent.TimeUnit;

/** The methods that the conformance suite asks for; each prefix is a resource that inherits them. */
public abstract class Resources {

    @POST
    @Path("/echo")
    public Response echo(@HeaderParam("X-Effect") String effect, byte[] body) {
        return answer(effect, body);
    }

    @PATCH
    @Path("/echo")
    public Response patched(@HeaderParam("X-Effect") String effect, byte[] body) {
        return answer(effect, body);
    }

    @POST
    @Path("/other")
    public Response other(@HeaderParam("X-Effect") String effect, byte[] body) {
        return answer(effect, body);
    }

    @GET
    @Path("/echo")
    public Response got(@HeaderParam("X-Effect") String effect) {
        return answer(effect, new byte[0]);
    }

    @PUT
    @Path("/echo")
    public Response put(@HeaderParam("X-Effect") String effect, byte[] body) {
        return answer(effect, body);
    }

    @DELETE
    @Path("/echo")
    public Response deleted(@HeaderParam("X-Effect") String effect) {
        return answer(effect, new byte[0]);
    }

    private static Response answer(String effect, byte[] body) {
        String json = "{\"run\":" + Effects.count(effect) + ",\"received\":\""
                + Base64.getEncoder().encodeToString(body == null ? new byte[0] : body) + "\"}";
        return Response.status(201)
                .header("Location", "/things/1")
                .header("X-Several", "one")
                .header("X-Several", "two")
                .header("Set-Cookie", "session=secret")
                .header("traceparent", "00-1")
                .header("Content-Type", "application/json")
                .entity(json.getBytes(StandardCharsets.UTF_8))
                .build();
    }

    @POST
    @Path("/form")
    @Produces("text/plain;charset=UTF-8")
    public String form(@HeaderParam("X-Effect") String effect, @FormParam("a") String a, @FormParam("b") String b) {
        Effects.count(effect);
        return a + "," + b;
    }

    @POST
    @Path("/status/{code}")
    @Produces("text/plain")
    public Response status(@HeaderParam("X-Effect") String effect, @PathParam("code") int code) {
        int run = Effects.count(effect);
        return Response.status(run == 1 ? code : 201).entity("run " + run).build();
    }

    @POST
    @Path("/gate")
    @Produces("text/plain")
    public Response gate(@HeaderParam("X-Effect") String effect) throws InterruptedException {
        Effects.count(effect);
        if (!Effects.gate(effect).await(120, TimeUnit.SECONDS)) {
            throw new IllegalStateException("nobody opened the gate");
        }
        return Response.status(201).entity("done").build();
    }

    @POST
    @Path("/large")
    @Produces("application/octet-stream")
    public Response large(@HeaderParam("X-Effect") String effect) {
        Effects.count(effect);
        byte[] chunk = "x".repeat(1 << 16).getBytes(StandardCharsets.US_ASCII);
        StreamingOutput body = out -> {
            for (int i = 0; i < 32; i++) {
                out.write(chunk);
            }
        };
        return Response.ok(body).header("Location", "/things/1").build();
    }
}
