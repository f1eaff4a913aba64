/** Servers that are broken on purpose, each in one way: what checks of APIs have to find. */
@NullMarked
package dev.onlyonce.testkit.broken;

import org.jspecify.annotations.NullMarked;
