/** The program {@code onlyonce}: its main class. The packages below are layers; {@code RingsTest} has their order. */
@NullMarked
package dev.onlyonce.server;

import org.jspecify.annotations.NullMarked;
