package dev.onlyonce.spring.web;

import dev.onlyonce.Key;
import dev.onlyonce.http.Operation;
import dev.onlyonce.http.Problem;
import dev.onlyonce.http.RequestAge;
import io.swagger.v3.oas.models.headers.Header;
import io.swagger.v3.oas.models.media.BooleanSchema;
import io.swagger.v3.oas.models.media.Content;
import io.swagger.v3.oas.models.media.IntegerSchema;
import io.swagger.v3.oas.models.media.MediaType;
import io.swagger.v3.oas.models.media.ObjectSchema;
import io.swagger.v3.oas.models.media.StringSchema;
import io.swagger.v3.oas.models.parameters.HeaderParameter;
import io.swagger.v3.oas.models.parameters.Parameter;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.oas.models.responses.ApiResponses;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.springdoc.core.customizers.GlobalOperationCustomizer;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.web.method.HandlerMethod;

/**
 * Adds the {@code Idempotency-Key} header, its rules ({@code x-idempotency}), the headers of replays and the refusals to the
 * OpenAPI description of protected handlers. What the application says about them itself stays.
 */
final class OpenApiOperations implements GlobalOperationCustomizer {
    /** For generators of clients: what OpenAPI has no words for. */
    private static final String RULES = "x-idempotency";

    private static final String REPLAYED = "Idempotent-Replayed";
    private static final String EXPIRES = "Idempotency-Key-Expires";

    private final ObjectProvider<OnlyonceWeb> web;

    OpenApiOperations(ObjectProvider<OnlyonceWeb> web) {
        this.web = web;
    }

    @Override
    public io.swagger.v3.oas.models.Operation customize(
            io.swagger.v3.oas.models.Operation described, HandlerMethod handler) {
        Optional<Operation> operation = web.getObject().operations().of(handler);
        operation.ifPresent(found -> {
            addHeaders(described, found);
            addResponses(described, found);
            described.addExtension(RULES, rules(found));
        });
        return described;
    }

    /** Durations as in ISO 8601. */
    private static Map<String, Object> rules(Operation operation) {
        Map<String, Object> key = new LinkedHashMap<>();
        key.put("header", operation.profile().keyHeader());
        if (operation.keyField() != null) {
            key.put("formField", operation.keyField());
        }
        key.put("required", operation.profile().keyRequired());
        key.put("format", operation.keyFormat().name());
        key.put("minLength", operation.keyFormat().lengthMin());
        key.put("maxLength", Key.VALUE_LENGTH_MAX);
        key.put("scope", operation.scope().name().toLowerCase(Locale.ROOT));
        Map<String, Object> rules = new LinkedHashMap<>();
        rules.put("operation", operation.name());
        rules.put("profile", operation.profile().name());
        rules.put("key", key);
        rules.put("retention", operation.policy().terms().retention().toString());
        rules.put("afterRetention", operation.policy().terms().tombstone().isZero() ? "runs" : "410");
        return rules;
    }

    private static void addHeaders(io.swagger.v3.oas.models.Operation described, Operation operation) {
        addHeader(
                described,
                new HeaderParameter()
                        .name(operation.profile().keyHeader())
                        .required(operation.profile().keyRequired() && operation.keyField() == null)
                        .description(
                                "Makes the request safe to retry: a new value, such as a UUID, for each new request,"
                                        + " and the same value for its retries.")
                        .schema(new StringSchema().minLength(1).maxLength(Key.VALUE_LENGTH_MAX)));
        RequestAge age = operation.requestAge();
        if (age != null) {
            addHeader(
                    described,
                    new HeaderParameter()
                            .name(age.header())
                            .required(operation.profile().keyRequired())
                            .description("When the request was made: the same for its retries.")
                            .schema(new StringSchema()));
        }
    }

    private static void addHeader(io.swagger.v3.oas.models.Operation described, Parameter header) {
        boolean known = described.getParameters() != null
                && described.getParameters().stream()
                        .anyMatch(parameter -> header.getName().equalsIgnoreCase(parameter.getName()));
        if (!known) {
            described.addParametersItem(header);
        }
    }

    private static void addResponses(io.swagger.v3.oas.models.Operation described, Operation operation) {
        if (described.getResponses() == null) {
            described.setResponses(new ApiResponses());
        }
        described.getResponses().forEach((status, response) -> {
            if (status.startsWith("2")) {
                addReplayHeaders(response);
            }
        });
        byStatus(operation).forEach((status, titles) -> {
            ApiResponse response =
                    new ApiResponse().description(String.join("; ", titles)).content(content(operation));
            if (status == operation.profile().status(Problem.IN_PROGRESS)
                    || status == operation.profile().status(Problem.STORE_UNAVAILABLE)) {
                response.addHeaderObject(
                        "Retry-After",
                        new Header()
                                .description("Seconds until a retry makes sense")
                                .schema(new IntegerSchema()));
            }
            described.getResponses().putIfAbsent(String.valueOf(status), response);
        });
    }

    private static void addReplayHeaders(ApiResponse response) {
        Map<String, Header> headers = response.getHeaders() == null ? Map.of() : response.getHeaders();
        if (!headers.containsKey(REPLAYED)) {
            response.addHeaderObject(
                    REPLAYED,
                    new Header()
                            .description("true if this is the recorded answer of an earlier request with the key")
                            .schema(new BooleanSchema()));
        }
        if (!headers.containsKey(EXPIRES)) {
            response.addHeaderObject(
                    EXPIRES,
                    new Header()
                            .description("Until when the key gets this answer")
                            .schema(new StringSchema()));
        }
    }

    private static Map<Integer, List<String>> byStatus(Operation operation) {
        List<Problem> problems = new ArrayList<>(List.of(
                Problem.KEY_MALFORMED,
                Problem.IN_PROGRESS,
                Problem.OUTCOME_UNKNOWN,
                Problem.KEY_REUSED,
                Problem.BODY_TOO_LARGE,
                Problem.STORE_UNAVAILABLE));
        if (operation.profile().keyRequired()) {
            problems.add(0, Problem.KEY_MISSING);
        }
        if (!operation.policy().terms().tombstone().isZero()) {
            problems.add(Problem.KEY_EXPIRED);
        }
        Map<Integer, List<String>> statuses = new TreeMap<>();
        for (Problem problem : problems) {
            statuses.computeIfAbsent(operation.profile().status(problem), status -> new ArrayList<>())
                    .add(problem.title());
        }
        return statuses;
    }

    private static Content content(Operation operation) {
        if (operation.profile().errors() == dev.onlyonce.http.ErrorFormat.STRIPE) {
            return new Content().addMediaType("application/json", new MediaType().schema(new ObjectSchema()));
        }
        ObjectSchema problem = new ObjectSchema();
        problem.addProperty("type", new StringSchema().format("uri"))
                .addProperty("title", new StringSchema())
                .addProperty("status", new IntegerSchema())
                .addProperty("detail", new StringSchema())
                .addProperty("code", new StringSchema());
        return new Content().addMediaType("application/problem+json", new MediaType().schema(problem));
    }
}
