package dev.onlyonce.http.admin;

import dev.onlyonce.http.HostNames;
import dev.onlyonce.http.HttpAnswer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Lets those in whom the application has authenticated. Where it authenticates nobody, only somebody at the machine itself may come in,
 * and only if that was configured: the interface is never open to a network.
 */
public final class ApplicationAccess implements Access {
    private static final String LOGIN = "application";
    private static final String HMAC = "HmacSHA256";

    private final byte[] secret = new byte[32];
    private final Sight sight;

    /**
     * What is shown to whom.
     *
     * @param loopback the name for the audit of an unauthenticated operator at the machine itself; empty if there is none
     * @param wholeKeys whether those who may only look see keys whole
     * @param payloads whether stored responses and payloads are shown to operators
     * @param payloadsToReaders whether those who may only look see them too
     */
    public record Sight(Optional<String> loopback, boolean wholeKeys, boolean payloads, boolean payloadsToReaders) {}

    /** Makes a secret of its own for the tokens. */
    public ApplicationAccess(Sight sight) {
        this.sight = sight;
        new SecureRandom().nextBytes(secret);
    }

    @Override
    public Optional<HttpAnswer> refuse(AdminRequest request) {
        return Optional.empty();
    }

    private record Who(String name, Caller caller) {}

    private Optional<Who> who(AdminRequest request) {
        String name = request.peer().name();
        Caller.Role role = request.peer().role();
        if (name != null) {
            // Whoever uses the application may be one of its customers: only a role lets anybody in. The role stands
            // before the name in
            // the audit, so that a user called "sweeper" does not pass for one.
            boolean isOperator = role == Caller.Role.OPERATOR;
            return Optional.ofNullable(role)
                    .map(it -> new Who(
                            name,
                            new Caller(
                                    (isOperator ? "operator " : "reader ") + name,
                                    it,
                                    isOperator || sight.wholeKeys(),
                                    sight.payloads() && (isOperator || sight.payloadsToReaders()))));
        }
        // Without authentication a page of another site could come here under a name of its own (DNS rebinding).
        boolean atTheMachine = request.peer().loopback()
                && request.host()
                        .flatMap(HostNames::ofAuthority)
                        .filter(HostNames::isMachine)
                        .isPresent();
        return sight.loopback()
                .filter(it -> atTheMachine)
                .map(it -> new Who(it, new Caller("operator at " + it, Caller.Role.OPERATOR, true, sight.payloads())));
    }

    @Override
    public Admission admit(AdminRequest request, boolean changes) {
        Optional<Who> who = who(request);
        if (who.isEmpty() && request.peer().name() != null) {
            return new Admission.Refused(Replies.problem(
                    403, "no_role", "The application has authenticated you, but you have no role that may look here."));
        }
        if (who.isEmpty() || !request.isSameOrigin()) {
            return new Admission.Refused(Replies.problem(
                    401, "login_required", "The application has not authenticated you: log in to it, then reload."));
        }
        if (changes && !isToken(who.get().name(), request.headers().first(CSRF_HEADER))) {
            return new Admission.Refused(Access.forged());
        }
        Caller caller = who.get().caller();
        return changes && caller.role() != Caller.Role.OPERATOR
                ? new Admission.Refused(Access.readOnly())
                : new Admission.Admitted(caller);
    }

    /** Other sites' pages cannot read the answer that has it. */
    private String token(String name) {
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(new SecretKeySpec(secret, HMAC));
            byte[] token = mac.doFinal(name.getBytes(StandardCharsets.UTF_8));
            return Base64.getUrlEncoder().withoutPadding().encodeToString(token);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has HMAC-SHA-256", e);
        }
    }

    private boolean isToken(String name, Optional<String> given) {
        return given.isPresent()
                && MessageDigest.isEqual(
                        token(name).getBytes(StandardCharsets.UTF_8),
                        given.get().getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public HttpAnswer session(AdminRequest request, About about) {
        return who(request)
                .filter(it -> request.isSameOrigin())
                .map(it -> SessionView.of(about, LOGIN, it.name(), it.caller(), token(it.name()), null))
                .map(view -> Replies.json(200, view))
                .orElseGet(() -> Replies.json(200, SessionView.none(about, LOGIN)));
    }

    @Override
    public HttpAnswer logIn(AdminRequest request, byte[] body, About about) {
        return Replies.problem(404, "Log in to the application.");
    }

    @Override
    public HttpAnswer logOut(AdminRequest request) {
        return Replies.problem(404, "Log out of the application.");
    }
}
