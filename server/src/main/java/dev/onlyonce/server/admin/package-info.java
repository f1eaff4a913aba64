@NullMarked
package dev.onlyonce.server.admin;

import org.jspecify.annotations.NullMarked;
