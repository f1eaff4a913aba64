/**
 * The gateway's settings, and the reader of {@code gateway.yaml} that checks them: one class for each section. Nothing here opens
 * a connection.
 */
@NullMarked
package dev.onlyonce.server.config;

import org.jspecify.annotations.NullMarked;
