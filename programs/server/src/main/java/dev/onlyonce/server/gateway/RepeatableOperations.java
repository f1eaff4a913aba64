package dev.onlyonce.server.gateway;

import dev.onlyonce.http.OnServerError;
import dev.onlyonce.http.Operation;
import dev.onlyonce.http.Profile;
import dev.onlyonce.server.config.Upstream;
import dev.onlyonce.store.OnLeaseLost;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Operations for upstreams that recognise keys themselves: a lost lease, a 502 and a 504 leave no doubt there, because asking
 * again is harmless. The upstream follows from the path of the request, not of its operation, so each request looks it up.
 */
final class RepeatableOperations {
    private final Map<String, Operation> operations;

    RepeatableOperations(List<Operation> operations) {
        this.operations = operations.stream()
                .map(RepeatableOperations::repeatable)
                .collect(Collectors.toMap(Operation::name, Function.identity()));
    }

    /** The operation for a request that goes to this upstream. */
    Operation at(Upstream upstream, Operation operation) {
        return upstream.honoursKey() ? operations.getOrDefault(operation.name(), operation) : operation;
    }

    private static Operation repeatable(Operation operation) {
        return operation
                .profile(profile(operation.profile()))
                .policy(operation.policy().toBuilder()
                        .onLeaseLost(OnLeaseLost.RETRY)
                        .build());
    }

    private static Profile profile(Profile profile) {
        return profile.onServerError() == OnServerError.RETRY
                ? profile.toBuilder().onServerError(OnServerError.RETRY_ALWAYS).build()
                : profile;
    }
}
