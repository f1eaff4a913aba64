/** A network with faults, between a client and a server. */
@NullMarked
package dev.onlyonce.faults;

import org.jspecify.annotations.NullMarked;
