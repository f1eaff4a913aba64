/** Entries in Amazon DynamoDB. */
@NullMarked
package dev.onlyonce.dynamodb;

import org.jspecify.annotations.NullMarked;
