package dev.onlyonce.http;

import dev.onlyonce.Key;
import dev.onlyonce.MalformedKey;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.fingerprint.Fingerprinter;
import dev.onlyonce.fingerprint.MalformedRequest;
import dev.onlyonce.store.Time;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Checks tenant, key, age and body of a request, without asking the store. Thread-safe. */
final class RequestCheck {
    private static final Pattern PATH_PARAMETERS = Pattern.compile(";[^/]*");

    private final Callers callers;
    private final Time time;

    RequestCheck(Callers callers, Time time) {
        this.callers = callers;
        this.time = time;
    }

    /** The result of a check. */
    sealed interface Result {}

    /** The request breaks a rule. */
    record Refused(Problem.Report report) implements Result {}

    /**
     * The request asks for this entry.
     *
     * @param objection why it must not run if the key is new; null if it may
     */
    record Accepted(Key key, Fingerprint fingerprint, RequestAge.@Nullable Objection objection) implements Result {}

    Result check(Operation operation, HttpRequest request) {
        try {
            String tenant = callers.tenant(request);
            if (tenant == null) {
                return new Refused(callers.unauthenticated(request));
            }
            if (Repeatability.isMissing(operation.profile(), request.headers())) {
                return new Refused(Problem.REPEATABILITY_UNSUPPORTED
                        .because("send an " + KeyHeader.NAME)
                        .header(Repeatability.RESULT, "rejected"));
            }
            Key key = new Key(tenant, operation.name(), key(operation, request), operation.scope());
            RequestAge age = operation.requestAge();
            return new Accepted(
                    key,
                    fingerprint(operation, request),
                    age == null ? null : age.check(request.headers(), time.now()));
        } catch (MalformedKey e) {
            return new Refused(report(e));
        } catch (MalformedRequest e) {
            return new Refused(
                    e.tooLarge()
                            ? tooLarge(operation)
                            : Problem.REQUEST_MALFORMED.because(e.getMessage()).member("reason", code(e.reason())));
        }
    }

    /** Names the limit only: whoever read the body may have stopped there, so nobody knows its size. */
    static Problem.Report tooLarge(Operation operation) {
        return Problem.BODY_TOO_LARGE
                .because("the limit is " + operation.bodyBytesMax() + " bytes")
                .member("reason", code(MalformedRequest.Reason.BODY_TOO_LARGE));
    }

    private static String key(Operation operation, HttpRequest request) {
        String header = operation.profile().keyHeader();
        String field = operation.keyField();
        String key = field == null
                ? KeyHeader.parse(header, request.headers().values(header))
                : KeyField.key(field, operation, request);
        operation.keyFormat().check(key);
        if (operation.refusePersonalKeys()) {
            PersonalData.refuse(key);
        }
        return key;
    }

    /** What identifies the request. */
    Fingerprint fingerprint(Operation operation, HttpRequest request) {
        Fingerprint fingerprint = operation
                .fingerprinter()
                .fingerprint(new Fingerprinter.Request(
                        request.method(),
                        request.path(),
                        request.query(),
                        request.headers().toMap(operation.fingerprinter().headers()),
                        request.headers().first("Content-Type").orElse(null),
                        compared(operation, request)))
                .about(target(request));
        return callers.credentials(request).map(fingerprint::boundTo).orElse(fingerprint);
    }

    private static byte[] compared(Operation operation, HttpRequest request) {
        KeyField form = KeyField.form(operation, request);
        return form == null ? request.body() : form.others();
    }

    /** Without the query and parameters of the path, such as {@code ;jsessionid=…}: they may hold secrets. */
    private static String target(HttpRequest request) {
        String path = request.path();
        String plain =
                path.indexOf(';') < 0 ? path : PATH_PARAMETERS.matcher(path).replaceAll("");
        return request.method() + " " + plain;
    }

    static Problem.Report report(MalformedKey e) {
        Problem problem = switch (e.reason()) {
            case MISSING -> Problem.KEY_MISSING;
            case BAD_FORMAT -> Problem.KEY_FORMAT;
            case PERSONAL -> Problem.KEY_PERSONAL;
            case EMPTY, TOO_LONG, BAD_CHARACTER, SEVERAL, BAD_QUOTING -> Problem.KEY_MALFORMED;
        };
        return problem.because(e.getMessage()).member("reason", code(e.reason()));
    }

    /** A reason as it is published. */
    static String code(Enum<?> reason) {
        return reason.name().toLowerCase(Locale.ROOT);
    }
}
