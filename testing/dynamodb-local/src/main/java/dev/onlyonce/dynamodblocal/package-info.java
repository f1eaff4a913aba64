/** DynamoDB Local for tests, in a process of its own. */
@NullMarked
package dev.onlyonce.dynamodblocal;

import org.jspecify.annotations.NullMarked;
