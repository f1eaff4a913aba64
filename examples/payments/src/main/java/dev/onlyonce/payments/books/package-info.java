/** The books: two lines for each event, which sum to zero. */
@NullMarked
package dev.onlyonce.payments.books;

import org.jspecify.annotations.NullMarked;
