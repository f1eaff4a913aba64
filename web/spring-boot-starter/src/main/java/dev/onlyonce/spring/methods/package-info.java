/** Methods of other beans, and the check of all annotations at start-up. Not for applications. */
@NullMarked
package dev.onlyonce.spring.methods;

import org.jspecify.annotations.NullMarked;
