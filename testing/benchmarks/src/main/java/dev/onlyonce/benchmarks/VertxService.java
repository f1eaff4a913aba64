package dev.onlyonce.benchmarks;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import java.io.PrintStream;

/** The service behind where there is no nginx to be it. Serves until it is killed. */
final class VertxService {
    static final String CHILD = "vertx-service-child";
    static final String ANSWER = "{\"id\":\"pay_0123456789\",\"status\":\"succeeded\"}";

    private VertxService() {}

    static void serve(PrintStream out) throws Exception {
        Buffer answer = Buffer.buffer(ANSWER);
        out.println(Vertx.vertx(new VertxOptions().setPreferNativeTransport(true))
                .createHttpServer()
                .requestHandler(request -> request.response()
                        .putHeader("Content-Type", "application/json")
                        .end(answer))
                .listen(0, "127.0.0.1")
                .toCompletionStage()
                .toCompletableFuture()
                .get()
                .actualPort());
    }
}
