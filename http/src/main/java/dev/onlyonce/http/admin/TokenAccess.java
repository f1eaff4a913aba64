package dev.onlyonce.http.admin;

import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HostNames;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.store.Time;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets those in who have a credential: one is the operators', another only lets its owner look. Programs send it with every request,
 * people log in with it once, and a cookie stands for it.
 */
public final class TokenAccess implements Access {
    private static final Logger audit = LoggerFactory.getLogger("dev.onlyonce.audit");

    private static final String COOKIE = "onlyonce-session";
    private static final String LOGIN = "form";
    private static final String NOT_MEANT =
            "The admin API is not known by this host name: use its address, or list the name under admin: {names: […]}";
    /** No controls, and no marks that change the direction of writing. */
    private static final Pattern NAME = Pattern.compile("[^\\p{C}\\p{Zl}\\p{Zp}]{1,64}");

    private final byte[] operator;
    private final byte @Nullable [] reader;
    private final Sight sight;
    private final Set<String> names;
    private final Sessions sessions;
    private final Attempts attempts;
    private final Time time;

    /**
     * The credentials.
     *
     * @param reader null if nobody may only look
     */
    public record Credentials(String operator, @Nullable String reader) {}

    /**
     * What is shown to whom.
     *
     * @param wholeKeys whether those who may only look see keys whole
     * @param payloads whether operators see stored responses and payloads
     * @param payloadsToReaders whether those who may only look see them too
     */
    public record Sight(boolean wholeKeys, boolean payloads, boolean payloadsToReaders) {}

    /** Lets in by these credentials, and under these host names besides addresses and {@code localhost}. */
    public TokenAccess(Credentials credentials, Sight sight, List<String> names, Time time) {
        operator = bytes(credentials.operator());
        reader = credentials.reader() == null ? null : bytes(credentials.reader());
        this.sight = sight;
        this.names = names.stream().map(HostNames::normal).collect(Collectors.toUnmodifiableSet());
        this.time = time;
        sessions = new Sessions(time);
        attempts = new Attempts(time);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** A page that an operator looks at may come here under a name of its own (DNS rebinding); an address cannot be lent. */
    @Override
    public Optional<HttpAnswer> refuse(AdminRequest request) {
        boolean meant = request.headers().has("Host")
                ? request.host()
                        .flatMap(HostNames::ofAuthority)
                        .filter(this::isMeant)
                        .isPresent()
                // Browsers always say.
                : true;
        return meant ? Optional.empty() : Optional.of(Replies.problem(421, NOT_MEANT));
    }

    private boolean isMeant(String host) {
        return HostNames.isMachine(host) || names.contains(HostNames.normal(host));
    }

    @Override
    public Admission admit(AdminRequest request, boolean changes) {
        Optional<String> given = request.headers().first("Authorization");
        return given.isPresent() ? admitByToken(request, given.get(), changes) : admitBySession(request, changes);
    }

    private Admission admitByToken(AdminRequest request, String authorization, boolean changes) {
        Optional<HttpAnswer> slowed = slowed(request);
        if (slowed.isPresent()) {
            return new Admission.Refused(slowed.get());
        }
        Caller.Role role = authorization.regionMatches(true, 0, "Bearer ", 0, 7)
                ? role(authorization.substring(7).trim())
                : null;
        if (role == null) {
            attempts.mistake(request.peer().address());
            return new Admission.Refused(
                    unauthorized("The credential is wrong: it is not the one in this gateway's admin-token file"));
        }
        return may(caller(role, null), changes);
    }

    private Admission admitBySession(AdminRequest request, boolean changes) {
        Optional<Sessions.Session> session = sessions.find(request.cookie(COOKIE));
        if (session.isEmpty() || !request.isSameOrigin()) {
            return new Admission.Refused(
                    unauthorized("A credential is needed: Authorization: Bearer <admin token>, or log in"));
        }
        if (changes && !session.get().isToken(request.headers().first(CSRF_HEADER))) {
            return new Admission.Refused(Access.forged());
        }
        return may(session.get().caller(), changes);
    }

    private static Admission may(Caller caller, boolean changes) {
        return changes && caller.role() != Caller.Role.OPERATOR
                ? new Admission.Refused(Access.readOnly())
                : new Admission.Admitted(caller);
    }

    private static HttpAnswer unauthorized(String detail) {
        return Replies.problem(401, "login_required", detail).header("WWW-Authenticate", AdminHandler.CHALLENGE);
    }

    /** Takes the same time whatever is wrong with it. */
    private Caller.@Nullable Role role(String credential) {
        byte[] given = bytes(credential);
        boolean isOperator = MessageDigest.isEqual(operator, given);
        boolean isReader = reader != null && MessageDigest.isEqual(reader, given);
        return isOperator ? Caller.Role.OPERATOR : isReader ? Caller.Role.READER : null;
    }

    private Caller caller(Caller.Role role, @Nullable String name) {
        boolean isOperator = role == Caller.Role.OPERATOR;
        String what = isOperator ? "operator" : "reader";
        return new Caller(
                name == null ? what : what + " " + name,
                role,
                isOperator || sight.wholeKeys(),
                sight.payloads() && (isOperator || sight.payloadsToReaders()));
    }

    private Optional<HttpAnswer> slowed(AdminRequest request) {
        long seconds = attempts.wait(request.peer().address());
        return seconds == 0
                ? Optional.empty()
                : Optional.of(Replies.problem(429, "slow_down", "Too many wrong credentials: wait " + seconds + " s.")
                        .header("Retry-After", Long.toString(seconds)));
    }

    @Override
    public HttpAnswer session(AdminRequest request, About about) {
        // Pages at other ports of this host send the cookie along: the token is not for them.
        return sessions.find(request.cookie(COOKIE))
                .filter(session -> request.isSameOrigin())
                .map(session -> Replies.json(200, view(session, about)))
                .orElseGet(() -> Replies.json(200, SessionView.none(about, LOGIN)));
    }

    private SessionView view(Sessions.Session session, About about) {
        return SessionView.of(
                about,
                LOGIN,
                session.name(),
                session.caller(),
                session.csrf(),
                session.expiresAt(time.now()).toString());
    }

    /** What is posted to log in. */
    private record LogIn(@Nullable String name, @Nullable String credential) {}

    @Override
    public HttpAnswer logIn(AdminRequest request, byte[] body, About about) {
        boolean json = request.headers()
                .first("Content-Type")
                .filter(type -> type.startsWith("application/json"))
                .isPresent();
        if (!json || !request.isSameOrigin()) {
            return Access.forged();
        }
        Optional<HttpAnswer> slowed = slowed(request);
        if (slowed.isPresent()) {
            return slowed.get();
        }
        LogIn given = Json.read(body, LogIn.class);
        String name = given.name() == null ? "" : given.name().strip();
        if (!NAME.matcher(name).matches()) {
            return Replies.problem(400, "name_needed", "Say who you are, in 1 to 64 characters: the audit records it.");
        }
        Caller.Role role =
                role(given.credential() == null ? "" : given.credential().strip());
        if (role == null) {
            attempts.mistake(request.peer().address());
            audit.warn("A login from {} failed", request.peer().address());
            return Replies.problem(401, "login_failed", "The credential is wrong.");
        }
        attempts.success(request.peer().address());
        sessions.close(request.cookie(COOKIE));
        Sessions.Opened opened = sessions.open(name, caller(role, name));
        audit.info(
                "{} logged in from {}",
                opened.session().caller().who(),
                request.peer().address());
        return Replies.json(200, view(opened.session(), about)).header("Set-Cookie", cookie(request, opened.id(), ""));
    }

    private static String cookie(AdminRequest request, String id, String more) {
        return COOKIE + "=" + id + "; Path=" + request.mount() + "/; HttpOnly; SameSite=Strict"
                + (request.peer().secure() ? "; Secure" : "") + more;
    }

    @Override
    public HttpAnswer logOut(AdminRequest request) {
        Optional<String> id = request.cookie(COOKIE);
        Optional<Sessions.Session> session = sessions.find(id);
        if (session.isPresent()) {
            boolean own = request.isSameOrigin()
                    && session.get().isToken(request.headers().first(CSRF_HEADER));
            if (!own) {
                return Access.forged();
            }
            sessions.close(id);
            audit.info("{} logged out", session.get().caller().who());
        }
        return HttpAnswer.of(
                204, Headers.of("Cache-Control", "no-store", "Set-Cookie", cookie(request, "", "; Max-Age=0")));
    }
}
