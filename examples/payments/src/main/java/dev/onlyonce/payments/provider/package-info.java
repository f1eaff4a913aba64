/** The simulated payment provider, with configurable faults and a ledger to compare with. */
@NullMarked
package dev.onlyonce.payments.provider;

import org.jspecify.annotations.NullMarked;
