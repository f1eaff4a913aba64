@NullMarked
package dev.onlyonce.sql;

import org.jspecify.annotations.NullMarked;
