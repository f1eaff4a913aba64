package dev.onlyonce.http;

/**
 * A response: what a handler answered, or what is to be sent.
 *
 * @param status the status code
 * @param headers all header lines; without {@code Content-Length} unless a handler set it
 * @param body the bytes, none for no body. Not copied: do not modify it
 */
public record HttpAnswer(int status, Headers headers, byte[] body) {
    private static final byte[] NO_BODY = {};

    /** Without a body. */
    public static HttpAnswer of(int status, Headers headers) {
        return new HttpAnswer(status, headers, NO_BODY);
    }

    /** The same with all lines of this header replaced by one. */
    public HttpAnswer header(String name, String value) {
        return new HttpAnswer(status, headers.set(name, value), body);
    }
}
