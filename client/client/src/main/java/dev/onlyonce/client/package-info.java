/**
 * An HTTP client whose retries are safe: {@link dev.onlyonce.client.RetryingClient} makes one key for each business id, writes it to
 * a {@link dev.onlyonce.client.Journal} before the first byte is sent, and keeps it until the answer is definitive.
 */
@NullMarked
package dev.onlyonce.client;

import org.jspecify.annotations.NullMarked;
