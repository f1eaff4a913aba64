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
 * Operations as upstreams that recognise keys themselves allow: a lost lease, a 502 and a 504 are no reason for doubt there,
 * because asking again is harmless. Which upstream a request goes to follows from its own path, not from its operation's, so that this is found out
 * anew for each.
 */
final class Repeatable {
    private final Map<String, Operation> operations;

    Repeatable(List<Operation> operations) {
        this.operations = operations.stream()
                .map(Repeatable::repeatable)
                .collect(Collectors.toMap(Operation::name, Function.identity()));
    }

    /** The operation for a request that goes to this upstream. */
    Operation at(Upstream upstream, Operation operation) {
        return upstream.honoursKey() ? operations.getOrDefault(operation.name(), operation) : operation;
    }

    private static Operation repeatable(Operation operation) {
        return new Operation(
                operation.name(),
                operation.method(),
                operation.path(),
                operation.scope(),
                profile(operation.profile()),
                operation.policy().toBuilder().onLeaseLost(OnLeaseLost.RETRY).build(),
                operation.keys(),
                operation.refusePersonalKeys(),
                operation.bodyBytesMax(),
                operation.fingerprintHeaders(),
                operation.fingerprinter(),
                operation.age());
    }

    private static Profile profile(Profile profile) {
        return profile.onServerError() == OnServerError.RETRY
                ? profile.onServerError(OnServerError.RETRY_ALWAYS)
                : profile;
    }
}
