package dev.onlyonce.http;

/** What a duplicate gets while the first request runs, after it has waited for as long as the policy says. */
public enum WhenRunning {
    /** 409, and when to ask again. */
    CONFLICT,
    /** 202, when to ask again, and where to ask for the status. */
    ACCEPTED
}
