/** What happened to the money, for others: events that leave when the transaction commits. */
@NullMarked
package dev.onlyonce.payments.events;

import org.jspecify.annotations.NullMarked;
