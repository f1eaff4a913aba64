/** The retry storm: many clients, many retries, and a verdict from the provider's ledger. */
@NullMarked
package dev.onlyonce.payments.storm;

import org.jspecify.annotations.NullMarked;
