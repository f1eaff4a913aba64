@NullMarked
package dev.onlyonce.payments.db;

import org.jspecify.annotations.NullMarked;
