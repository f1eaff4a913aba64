/** What everything that protects HTTP operations must do, checked from outside over real connections. */
@NullMarked
package dev.onlyonce.testkit.http;

import org.jspecify.annotations.NullMarked;
