package dev.onlyonce.testkit.http;

import java.net.URI;

/**
 * The behaviour of a protected HTTP application, checked black-box against a base URL: the servlet filter, the Spring Boot
 * starter and the gateway all pass it. Extend this class and say where the application is.
 *
 * <p><b>The application.</b> It counts how often each of its handlers ran for the value of the request's {@code X-Effect}
 * header, and knows these paths:
 *
 * <table>
 * <caption>Not protected</caption>
 * <tr><td>{@code GET /effects/{id}}</td><td>200, how often handlers ran for that {@code X-Effect}, as text</td></tr>
 * <tr><td>{@code POST /gates/{id}}</td><td>204, lets the handlers wait no longer that stand at that gate</td></tr>
 * </table>
 *
 * <table>
 * <caption>Protected, under each of the prefixes below</caption>
 * <tr><td>{@code POST, PATCH /echo}</td><td>201, {@code Content-Type: application/json}, {@code Location: /things/1}, two lines
 *     {@code X-Several: one} and {@code two}, {@code Set-Cookie: session=secret}, {@code traceparent: 00-1}, and the body
 *     {@code {"run":n,"received":"<the request's body, base64>"}}, n counting the runs</td></tr>
 * <tr><td>{@code POST /other}</td><td>as echo; another operation</td></tr>
 * <tr><td>{@code POST /form}</td><td>200, the values of the form parameters a and b, joined by a comma, as text</td></tr>
 * <tr><td>{@code POST /status/{code}}</td><td>the first run answers with that status and the body {@code run 1}, later ones
 *     with 201</td></tr>
 * <tr><td>{@code POST /gate}</td><td>waits at the gate {@code X-Effect} until that is opened, then 201 {@code done}</td></tr>
 * <tr><td>{@code POST /large}</td><td>200, {@code Location: /things/1}, 2 MiB of {@code x}</td></tr>
 * <tr><td>{@code GET, HEAD, PUT, DELETE /echo}</td><td>as POST; not protected</td></tr>
 * </table>
 *
 * <table>
 * <caption>Prefixes</caption>
 * <tr><td>{@code /ietf}, {@code /stripe}, {@code /strict}</td><td>the profile, everything else by default</td></tr>
 * <tr><td>{@code /operation}</td><td>ietf, keys unique in their operation</td></tr>
 * <tr><td>{@code /accepted}</td><td>ietf, duplicates of running requests get 202</td></tr>
 * <tr><td>{@code /waiting}</td><td>ietf, duplicates wait for up to a minute</td></tr>
 * <tr><td>{@code /lease}</td><td>ietf, a lease of 2 s</td></tr>
 * <tr><td>{@code /retention}</td><td>ietf, a retention of 1 s and no tombstone</td></tr>
 * <tr><td>{@code /tombstone}</td><td>ietf, a retention of 1 s and a tombstone of an hour</td></tr>
 * <tr><td>{@code /stripe-tombstone}, {@code /strict-tombstone}</td><td>the profile, a retention of 1 s and a tombstone of an
 *     hour, of which stripe makes no use</td></tr>
 * <tr><td>{@code /stripe-unknown}</td><td>stripe, a 5xx leaves the outcome unknown</td></tr>
 * <tr><td>{@code /uuid}</td><td>ietf, keys must be UUIDs</td></tr>
 * <tr><td>{@code /personal}</td><td>ietf, keys that look like personal data are refused</td></tr>
 * <tr><td>{@code /timestamp}</td><td>ietf, {@code X-Made} says when the request was made, at most an hour ago</td></tr>
 * </table>
 *
 * <p>Two callers exist, each a tenant. Operations are named {@code METHOD /path}. Request bodies of up to 1 MiB are taken and
 * responses of up to 1 MiB stored.
 */
public abstract class HttpConformance implements CheckPart, KeyPart, ProfilePart, AnswerPart, RunningPart, TimePart {

    /** Where the application is, such as {@code http://localhost:8080}. */
    protected abstract URI base();

    /** The {@code Authorization} header with which a caller is the tenant {@code acme} or {@code zenith}. */
    protected abstract String authorization(String tenant);

    /** For the parts. */
    @Override
    public final Client client() {
        return new Client(base(), this::authorization);
    }
}
