@NullMarked
package dev.onlyonce.benchmarks;

import org.jspecify.annotations.NullMarked;
