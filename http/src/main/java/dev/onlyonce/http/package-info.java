/**
 * The single copy of what HTTP requests and answers mean to the engine: keys in headers, fingerprints of requests, recorded
 * answers, problem details, profiles, limits for each tenant, and webhooks with their signatures. It speaks to no network and
 * knows no server: filters and the gateway call {@link dev.onlyonce.http.Boundary}, receivers of webhooks
 * {@link dev.onlyonce.http.WebhookReceiver}.
 */
@NullMarked
package dev.onlyonce.http;

import org.jspecify.annotations.NullMarked;
