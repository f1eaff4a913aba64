@NullMarked
package dev.onlyonce.server.cli;

import org.jspecify.annotations.NullMarked;
