package dev.onlyonce.http.admin;

import dev.onlyonce.http.HttpAnswer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Who may use the operators' interface. Never blocks. Any number of threads. */
public interface Access {
    /** The header with the token that every change carries, unless it has a credential of its own. */
    String CSRF_HEADER = "X-Onlyonce-Csrf";

    /** The refusal of requests that nobody may send, such as those by a wrong host name; empty if it may be looked at. */
    Optional<HttpAnswer> refuse(AdminRequest request);

    /**
     * Who sends a request.
     *
     * @param changes whether it changes something
     */
    Admission admit(AdminRequest request, boolean changes);

    /** What {@code GET} on the session answers. */
    HttpAnswer session(AdminRequest request, About about);

    /** Logs in with what was posted. */
    HttpAnswer logIn(AdminRequest request, byte[] body, About about);

    /** Ends the session. */
    HttpAnswer logOut(AdminRequest request);

    /** Whether somebody may ask. */
    sealed interface Admission {
        /** He may. */
        record Admitted(Caller caller) implements Admission {}

        /** He may not. */
        record Refused(HttpAnswer answer) implements Admission {}
    }

    /**
     * What a page needs to know of the program.
     *
     * @param features what this program's interface can do beyond the basics
     * @param home a page to go back to; null for none
     */
    record About(
            String program,
            String node,
            String version,
            List<String> features,
            @Nullable String home) {}

    /** A session as a page sees it; while nobody is logged in, nothing about the node. */
    record SessionView(
            String program,
            @Nullable String node,
            @Nullable String version,
            boolean loggedIn,
            String login,
            @Nullable String name,
            @Nullable String role,
            @Nullable Map<String, String> csrf,
            @Nullable String expiresAt,
            @Nullable String keys,
            @Nullable String payloads,
            @Nullable List<String> features,
            @Nullable String home) {
        static SessionView none(About about, String login) {
            return new SessionView(
                    about.program(), null, null, false, login, null, null, null, null, null, null, null, about.home());
        }

        static SessionView of(
                About about, String login, String name, Caller caller, String csrf, @Nullable String expiresAt) {
            return new SessionView(
                    about.program(),
                    about.node(),
                    about.version(),
                    true,
                    login,
                    name,
                    caller.role() == Caller.Role.OPERATOR ? "operator" : "reader",
                    Map.of("header", CSRF_HEADER, "token", csrf),
                    expiresAt,
                    caller.wholeKeys() ? "whole" : "shortened",
                    caller.payloads() ? "shown" : "hidden",
                    about.features(),
                    about.home());
        }
    }

    /** The refusal of a change by somebody who may only look. */
    static HttpAnswer readOnly() {
        return Replies.problem(403, "read_only", "You may look at everything and change nothing.");
    }

    /** The refusal of a change that may come from another site's page. */
    static HttpAnswer forged() {
        return Replies.problem(
                403,
                "csrf",
                "The change does not come from this console's own page, or its token is missing. Reload the page and"
                        + " try again.");
    }
}
