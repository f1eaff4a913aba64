/** Safe retries for Spring's {@code RestClient} and {@code WebClient}. */
@NullMarked
package dev.onlyonce.client.spring;

import org.jspecify.annotations.NullMarked;
