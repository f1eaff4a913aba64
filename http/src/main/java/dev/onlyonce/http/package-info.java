/**
 * The single copy of what HTTP requests and answers mean to the engine: keys in headers, fingerprints of requests, recorded
 * answers, problem details, profiles, limits for each tenant, and signatures of webhooks. It speaks to no network and knows no
 * server: filters and the gateway call {@link dev.onlyonce.http.Boundary}.
 */
@NullMarked
package dev.onlyonce.http;

import org.jspecify.annotations.NullMarked;
