/**
 * Payments, refunds, transfers, orders and customers: their tables, the calls to the provider, and the reconciliation
 * with it. Knows nothing of HTTP servers.
 */
@NullMarked
package dev.onlyonce.payments.domain;

import org.jspecify.annotations.NullMarked;
