package dev.onlyonce.client;

import java.time.Duration;

/**
 * One exchange with the server, for people who want to know what happened.
 *
 * @param after how long after the beginning of the call it was sent
 * @param took until it was answered or given up
 * @param status of the answer; 0 if there was none
 * @param what happened, in a few words
 */
public record Attempt(Duration after, Duration took, int status, String what) {
    @Override
    public String toString() {
        return "after " + after.toMillis() + " ms: " + (status == 0 ? "" : status + ", ") + what + " ("
                + took.toMillis() + " ms)";
    }
}
