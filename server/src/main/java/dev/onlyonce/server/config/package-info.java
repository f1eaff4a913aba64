@NullMarked
package dev.onlyonce.server.config;

import org.jspecify.annotations.NullMarked;
