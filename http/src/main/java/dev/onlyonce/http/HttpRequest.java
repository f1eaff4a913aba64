package dev.onlyonce.http;

import org.jspecify.annotations.Nullable;

/**
 * A request as the boundary sees it.
 *
 * @param method in upper case
 * @param path as it was sent, not decoded, without the query
 * @param query what follows the question mark, as it was sent; null if there is none
 * @param headers all header lines
 * @param body the bytes as they were sent. Of a body over the operation's limit, one byte more than the limit is enough: it
 *     is refused. Not copied: do not modify it
 * @param tenant who asks, from authentication and never from the request's content; null if nobody is authenticated
 */
public record HttpRequest(
        String method,
        String path,
        @Nullable String query,
        Headers headers,
        byte[] body,
        @Nullable String tenant) {}
