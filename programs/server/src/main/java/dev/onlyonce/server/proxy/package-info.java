/**
 * A reverse proxy that knows nothing of keys: connections to clients and upstreams, checks of what either sends, streams, and the
 * memory that all of them may take.
 */
@NullMarked
package dev.onlyonce.server.proxy;

import org.jspecify.annotations.NullMarked;
