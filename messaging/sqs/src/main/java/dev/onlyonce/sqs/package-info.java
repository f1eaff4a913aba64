/** Amazon SQS: {@link dev.onlyonce.sqs.SqsInbox} applies each message once, {@link dev.onlyonce.sqs.SqsRelay} publishes from the outbox. */
@NullMarked
package dev.onlyonce.sqs;

import org.jspecify.annotations.NullMarked;
