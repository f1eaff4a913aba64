/** Safe retries for OkHttp. */
@NullMarked
package dev.onlyonce.client.okhttp;

import org.jspecify.annotations.NullMarked;
