@NullMarked
package dev.onlyonce.server;

import org.jspecify.annotations.NullMarked;
