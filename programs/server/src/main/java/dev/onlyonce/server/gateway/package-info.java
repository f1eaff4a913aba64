/**
 * The gateway: it finds the operation of a request, lets the boundary decide, forwards the winner and answers everybody. {@link
 * dev.onlyonce.server.gateway.ProtectedRequest} follows one request.
 */
@NullMarked
package dev.onlyonce.server.gateway;

import org.jspecify.annotations.NullMarked;
