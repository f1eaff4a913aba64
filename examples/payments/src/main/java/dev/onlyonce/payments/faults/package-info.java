/** A network with configurable faults, between a client and a server. */
@NullMarked
package dev.onlyonce.payments.faults;

import org.jspecify.annotations.NullMarked;
