/** The prover: a load, faults, and a check of what clients and the outside world saw. */
@NullMarked
package dev.onlyonce.prove;

import org.jspecify.annotations.NullMarked;
