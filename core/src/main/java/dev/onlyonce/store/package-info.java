@NullMarked
package dev.onlyonce.store;

import org.jspecify.annotations.NullMarked;
