package dev.onlyonce.jaxrs;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.Policy;
import dev.onlyonce.Scope;
import dev.onlyonce.http.KeyFormat;
import dev.onlyonce.http.OnServerError;
import dev.onlyonce.http.Operation;
import dev.onlyonce.http.Profile;
import dev.onlyonce.http.RequestAge;
import dev.onlyonce.http.WhenRunning;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.container.ContainerRequestContext;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The application of the conformance suite, for any implementation of JAX-RS. */
final class ConformanceResources {
    private ConformanceResources() {}

    static Set<Class<?>> classes() {
        return Set.of(
                Effects.class,
                Ends.class,
                Ietf.class,
                Stripe.class,
                Strict.class,
                InOperation.class,
                Accepted.class,
                Waiting.class,
                ShortLease.class,
                ShortRetention.class,
                Tombstone.class,
                StripeTombstone.class,
                StrictTombstone.class,
                StripeUnknown.class,
                Uuid.class,
                Personal.class,
                Timestamp.class);
    }

    static OnlyonceFeature feature(Onlyonce once) {
        OnlyonceFeature.Builder builder = OnlyonceFeature.builder(once).tenants(ConformanceResources::tenant);
        builder.operation(
                "POST /accepted/gate",
                o -> o.profile(Profile.ietf().toBuilder()
                        .whenRunning(WhenRunning.ACCEPTED)
                        .build()));
        policy(builder, "POST /waiting/gate", p -> p.waitMax(Duration.ofMinutes(1)));
        for (String path : new String[] {"echo", "gate", "other"}) {
            policy(builder, "POST /lease/" + path, p -> p.lease(Duration.ofSeconds(2)));
            for (String retained : new String[] {"retention", "tombstone", "stripe-tombstone", "strict-tombstone"}) {
                boolean keeps = retained.endsWith("tombstone") && path.equals("echo");
                policy(
                        builder,
                        "POST /" + retained + "/" + path,
                        p -> p.retention(Duration.ofSeconds(1)).tombstone(keeps ? Duration.ofHours(1) : Duration.ZERO));
            }
        }
        return builder.operation(
                        "POST /stripe-unknown/status/{code}",
                        o -> o.profile(Profile.stripe().toBuilder()
                                .onServerError(OnServerError.UNKNOWN)
                                .build()))
                .operation("POST /uuid/echo", o -> o.keyFormat(KeyFormat.uuid()))
                .operation("POST /personal/echo", o -> o.refusePersonalKeys(true))
                .operation("POST /timestamp/echo", o -> o.requestAge(RequestAge.of("X-Made", Duration.ofHours(1))))
                .build();
    }

    private static void policy(
            OnlyonceFeature.Builder builder, String operation, UnaryOperator<Policy.Builder> change) {
        UnaryOperator<Operation.Builder> changed =
                o -> o.policy(change.apply(Policy.builder()).build());
        builder.operation(operation, changed);
    }

    static String authorization(String tenant) {
        return "Basic " + Base64.getEncoder().encodeToString((tenant + ":secret").getBytes(StandardCharsets.UTF_8));
    }

    private static @Nullable String tenant(ContainerRequestContext request) {
        String header = request.getHeaderString("Authorization");
        return Set.of("acme", "zenith").stream()
                .filter(tenant -> authorization(tenant).equals(header))
                .findAny()
                .orElse(null);
    }

    /** A prefix. */
    @Path("/ietf")
    @Idempotent
    public static class Ietf extends Resources {}

    /** A prefix. */
    @Path("/stripe")
    @Idempotent(profile = "stripe")
    public static class Stripe extends Resources {}

    /** A prefix. */
    @Path("/strict")
    @Idempotent(profile = "strict")
    public static class Strict extends Resources {}

    /** A prefix. */
    @Path("/operation")
    @Idempotent(scope = Scope.OPERATION)
    public static class InOperation extends Resources {}

    /** A prefix. */
    @Path("/accepted")
    @Idempotent
    public static class Accepted extends Resources {}

    /** A prefix. */
    @Path("/waiting")
    @Idempotent
    public static class Waiting extends Resources {}

    /** A prefix. */
    @Path("/lease")
    @Idempotent
    public static class ShortLease extends Resources {}

    /** A prefix. */
    @Path("/retention")
    @Idempotent
    public static class ShortRetention extends Resources {}

    /** A prefix. */
    @Path("/tombstone")
    @Idempotent
    public static class Tombstone extends Resources {}

    /** A prefix. */
    @Path("/stripe-tombstone")
    @Idempotent(profile = "stripe")
    public static class StripeTombstone extends Resources {}

    /** A prefix. */
    @Path("/strict-tombstone")
    @Idempotent(profile = "strict")
    public static class StrictTombstone extends Resources {}

    /** A prefix. */
    @Path("/stripe-unknown")
    @Idempotent(profile = "stripe")
    public static class StripeUnknown extends Resources {}

    /** A prefix. */
    @Path("/uuid")
    @Idempotent
    public static class Uuid extends Resources {}

    /** A prefix. */
    @Path("/personal")
    @Idempotent
    public static class Personal extends Resources {}

    /** A prefix. */
    @Path("/timestamp")
    @Idempotent
    public static class Timestamp extends Resources {}
}
