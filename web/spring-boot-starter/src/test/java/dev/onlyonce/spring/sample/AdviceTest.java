package dev.onlyonce.spring.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.NotExecuted;
import dev.onlyonce.servlet.TenantResolver;
import dev.onlyonce.spring.Idempotent;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.Serial;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

@DisplayName("An application that answers the exceptions of its leased handlers")
@ExtendWith(OutputCaptureExtension.class)
@ResourceLock(Resources.SYSTEM_OUT)
class AdviceTest {
    private static RunningSample app;

    private final String key = UUID.randomUUID().toString();

    @BeforeAll
    static void start() {
        app = new RunningSample(
                AdviceApp.class,
                "jdbc:h2:mem:" + UUID.randomUUID(),
                "--onlyonce.store=memory",
                "--logging.level.dev.onlyonce=INFO");
    }

    @AfterAll
    static void stop() {
        app.close();
    }

    private static int effects() {
        return app.bean(AdviceApp.class).effects.get();
    }

    private void assertUnknown(HttpResponse<String> retry, int before) {
        assertThat(retry.statusCode()).isEqualTo(409);
        assertThat(retry.body()).contains("outcome_unknown");
        assertThat(effects() - before).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "advice",
                "entity",
                "problem",
                "resolver",
                "page",
                "annotated",
                "response-status",
                "filter",
                "view",
                "large"
            })
    @DisplayName("D18 R2 an exception that leaves a leased handler stays doubt, whatever code answers 5xx for it")
    void rendered(String how) {
        int before = effects();
        assertThat(app.post("/fail?how=" + how, key, "{}").statusCode()).isEqualTo(500);
        assertUnknown(app.post("/fail?how=" + how, key, "{}"), before);
    }

    @Test
    @DisplayName("D18 R2 so does the exception of a handler that runs on another thread")
    void asynchronous() {
        int before = effects();
        assertThat(app.post("/fail-later", key, "{}").statusCode()).isEqualTo(500);
        assertUnknown(app.post("/fail-later", key, "{}"), before);
    }

    @Test
    @DisplayName("D18 R2 an exception that is answered below 500 is the application's refusal: recorded and replayed")
    void refused() {
        int before = effects();
        assertThat(app.post("/fail?how=refused", key, "{}").statusCode()).isEqualTo(409);
        HttpResponse<String> retry = app.post("/fail?how=refused", key, "{}");
        assertThat(retry.statusCode()).isEqualTo(409);
        assertThat(RunningSample.isReplay(retry)).isTrue();
        assertThat(effects() - before).isEqualTo(1);
    }

    @Test
    @DisplayName("D18 R2 a 5xx that the handler returns is its own word: the retry runs, and the log says why, once")
    void returned(CapturedOutput output) {
        int before = effects();
        assertThat(app.post("/returned", key, "{}").statusCode()).isEqualTo(500);
        assertThat(output.toString().lines())
                .filteredOn(line -> line.contains("POST /returned"))
                .singleElement()
                .asString()
                .contains("is free again: status 500");
        assertThat(output).doesNotContain(key);
        assertThat(app.post("/returned", key, "{}").statusCode()).isEqualTo(500);
        assertThat(effects() - before).isEqualTo(2);
    }

    @Test
    @DisplayName("D5 a handler that proves that it did nothing frees its key, also when an advice answers 500")
    void proven() {
        for (int run = 0; run < 2; run++) {
            HttpResponse<String> answer = app.post("/fail?how=not-executed", key, "{}");
            assertThat(answer.statusCode()).isEqualTo(500);
            assertThat(answer.body()).contains("oops");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/model?fail=true", "/no-arguments?fail=true", "/body", "/unanswered?fail=true"})
    @DisplayName("D5 an exception before the handler is called is no doubt: the retry runs")
    void beforeTheHandler(String path) {
        int before = effects();
        assertThat(app.post(path, key, "\"unfit\"").statusCode()).isEqualTo(500);
        assertThat(app.post(path, key, "\"unfit\"").statusCode()).isEqualTo(500);
        assertThat(effects()).isEqualTo(before);
    }

    @Test
    @DisplayName("D18 R2 an answer that fits no Accept header is no refusal once the handler has run: unknown")
    void notAcceptable() {
        int before = effects();
        HttpResponse<String> first = app.post("/typed", key, "{}", "Accept", "image/png");
        assertThat(first.statusCode()).isEqualTo(500);
        assertUnknown(app.post("/typed", key, "{}", "Accept", "image/png"), before);
    }

    @ParameterizedTest
    @ValueSource(strings = {"application/x-other", "not a type"})
    @DisplayName("R2 a body that no converter reads gets 415 and uses up no key: the corrected request runs")
    void unsupportedType(String type) {
        int before = effects();
        HttpResponse<String> refused = app.postAs(type, "/body", key, "{\"amount\":1}");
        assertThat(refused.statusCode()).isEqualTo(415);
        HttpResponse<String> corrected = app.post("/body", key, "{\"amount\":1}");
        assertThat(corrected.statusCode()).as(corrected.body()).isEqualTo(200);
        assertThat(RunningSample.isReplay(app.post("/body", key, "{\"amount\":1}")))
                .isTrue();
        assertThat(app.postAs(type, "/body", key, "{\"amount\":1}").statusCode())
                .isEqualTo(415);
        assertThat(effects() - before).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"page", "problem", "annotated"})
    @DisplayName("R1 the body of an error is UTF-8, and its content type does not say otherwise")
    void charset(String how) {
        HttpResponse<String> answer = app.post("/fail?how=" + how, key, "{}");
        assertThat(answer.headers().firstValue("Content-Type").orElse(""))
                .startsWith("application/")
                .doesNotContainIgnoringCase("ISO-8859-1");
    }

    /** Handlers that fail after their effect, and all the ways to answer for them. */
    @SampleApplication
    @Import({AdviceApp.Handlers.class, AdviceApp.WithModel.class, AdviceApp.CatchAll.class})
    static class AdviceApp {
        final AtomicInteger effects = new AtomicInteger();

        @Bean
        TenantResolver tenants() {
            return request -> "acme";
        }

        static final class Failure extends RuntimeException {
            @Serial
            private static final long serialVersionUID = 1;

            final String how;

            Failure(String how) {
                super("Zahlung für Käse: " + how);
                this.how = how;
            }
        }

        @ResponseStatus(HttpStatus.INTERNAL_SERVER_ERROR)
        static final class Annotated extends RuntimeException {
            @Serial
            private static final long serialVersionUID = 1;
        }

        /** Answers for exceptions that leave Spring MVC, as many applications' filters do. */
        @Bean
        FilterRegistrationBean<Filter> failures() {
            FilterRegistrationBean<Filter> registration = new FilterRegistrationBean<>(new HttpFilter() {
                @Serial
                private static final long serialVersionUID = 1;

                @Override
                protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                        throws IOException, ServletException {
                    try {
                        chain.doFilter(request, response);
                    } catch (ServletException e) {
                        if (!"filter".equals(request.getParameter("how"))) {
                            throw e;
                        }
                        response.setStatus(500);
                        response.getWriter().write("a filter answers");
                    }
                }
            });
            registration.setOrder(0);
            return registration;
        }

        @Bean
        HandlerExceptionResolver resolver() {
            return (request, response, handler, thrown) -> {
                if (thrown instanceof Failure failure && failure.how.equals("resolver")) {
                    response.setStatus(500);
                    return new ModelAndView();
                }
                return null;
            };
        }

        @RestControllerAdvice
        static class CatchAll {
            @ExceptionHandler
            Object failure(Failure e) {
                return switch (e.how) {
                    case "entity" -> ResponseEntity.internalServerError().body(Map.of("error", "oops"));
                    case "problem" -> ProblemDetail.forStatusAndDetail(HttpStatus.INTERNAL_SERVER_ERROR, "Käse");
                    case "refused" -> ResponseEntity.status(409).body("refused");
                    case "view" -> {
                        ModelAndView view = new ModelAndView((model, request, response) ->
                                response.getOutputStream().print("a page"));
                        view.setStatus(HttpStatus.INTERNAL_SERVER_ERROR);
                        yield view;
                    }
                    case "large" -> ResponseEntity.internalServerError().body("x".repeat(2 << 20));
                    default -> throw e;
                };
            }

            @ExceptionHandler({
                IllegalStateException.class,
                NotExecuted.class,
                org.springframework.http.converter.HttpMessageConversionException.class
            })
            ResponseEntity<String> any(Exception e) {
                return ResponseEntity.internalServerError().body("oops");
            }
        }

        @RestController
        static class Handlers {
            private final AdviceApp app;

            Handlers(AdviceApp app) {
                this.app = app;
            }

            record Order(int amount) {}

            @PostMapping("/fail")
            @Idempotent
            String fail(@RequestParam String how) {
                app.effects.incrementAndGet();
                throw switch (how) {
                    case "advice" -> new IllegalStateException("after the effect");
                    case "annotated" -> new Annotated();
                    case "response-status" -> new ResponseStatusException(HttpStatus.INTERNAL_SERVER_ERROR, "Käse");
                    case "not-executed" -> new NotExecuted("refused by the provider's address");
                    default -> new Failure(how);
                };
            }

            @PostMapping("/fail-later")
            @Idempotent
            Callable<String> failLater() {
                return () -> {
                    app.effects.incrementAndGet();
                    throw new IllegalStateException("after the effect");
                };
            }

            @PostMapping("/returned")
            @Idempotent
            ResponseEntity<String> returned() {
                app.effects.incrementAndGet();
                return ResponseEntity.internalServerError().body("we have undone it");
            }

            @PostMapping("/body")
            @Idempotent
            String body(@RequestBody Order order) {
                app.effects.incrementAndGet();
                return "done";
            }

            @PostMapping("/typed")
            @Idempotent
            Order typed(@RequestHeader("Accept") String accept) {
                return new Order(app.effects.incrementAndGet());
            }
        }

        /** Something fails before its handlers are called. */
        @RestController
        static class WithModel {
            private final AdviceApp app;

            WithModel(AdviceApp app) {
                this.app = app;
            }

            @ModelAttribute
            void prepare(@RequestParam(defaultValue = "false") boolean fail, HttpServletRequest request)
                    throws IOException {
                if (fail && request.getRequestURI().equals("/unanswered")) {
                    throw new IOException("no customer");
                }
                if (fail) {
                    throw new IllegalStateException("no customer");
                }
            }

            @PostMapping(path = "/model", produces = MediaType.TEXT_PLAIN_VALUE)
            @Idempotent
            String model(@RequestBody String body) {
                return "run " + app.effects.incrementAndGet();
            }

            @PostMapping("/no-arguments")
            @Idempotent
            String noArguments() {
                return "run " + app.effects.incrementAndGet();
            }

            @PostMapping("/unanswered")
            @Idempotent
            String unanswered() {
                return "run " + app.effects.incrementAndGet();
            }
        }
    }
}
