/** The gateway's metrics, logs and traces. */
@NullMarked
package dev.onlyonce.server.observe;

import org.jspecify.annotations.NullMarked;
