/** What the commands share: how one says that it cannot run. */
@NullMarked
package dev.onlyonce.payments.cli;

import org.jspecify.annotations.NullMarked;
