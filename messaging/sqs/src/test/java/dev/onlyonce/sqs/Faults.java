package dev.onlyonce.sqs;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Predicate;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.core.SdkResponse;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;
import software.amazon.awssdk.services.sqs.model.SqsException;

/** Faults between a client and the service: requests that do not get there, and answers that are lost. Any number of threads. */
final class Faults implements ExecutionInterceptor {
    final AtomicInteger refused = new AtomicInteger();
    final AtomicInteger lost = new AtomicInteger();

    private final AtomicBoolean received = new AtomicBoolean();
    private volatile Predicate<SdkRequest> refuse = request -> false;
    private volatile Predicate<SdkRequest> reject = request -> false;
    private volatile String code = "InvalidParameterValue";
    private volatile Predicate<SdkRequest> lose = request -> false;
    private volatile Consumer<SdkRequest> observer = request -> {};
    private volatile Consumer<List<Message>> receiver = messages -> {};

    /** Requests that do not reach the service from now on. */
    void refuse(Predicate<SdkRequest> requests) {
        refuse = requests;
    }

    /** Requests that the service rejects for good from now on. */
    void reject(Predicate<SdkRequest> requests) {
        reject = requests;
    }

    /** All requests are rejected with an error code from now on. */
    void rejectWith(String errorCode) {
        code = errorCode;
        reject = request -> true;
    }

    /** Requests whose answers are lost from now on: the service has done what it was asked. */
    void lose(Predicate<SdkRequest> requests) {
        lose = requests;
    }

    void observe(Consumer<SdkRequest> requests) {
        observer = requests;
    }

    /** Is called with the first messages that are received, before the consumer gets them. */
    void received(Consumer<List<Message>> messages) {
        receiver = messages;
    }

    @Override
    public void beforeExecution(Context.BeforeExecution context, ExecutionAttributes attributes) {
        observer.accept(context.request());
        if (refuse.test(context.request())) {
            refused.incrementAndGet();
            throw SdkClientException.create("the request did not get there");
        }
        if (reject.test(context.request())) {
            throw SqsException.builder()
                    .statusCode(400)
                    .message("rejected by a test")
                    .awsErrorDetails(AwsErrorDetails.builder().errorCode(code).build())
                    .build();
        }
    }

    @Override
    public SdkResponse modifyResponse(Context.ModifyResponse context, ExecutionAttributes attributes) {
        if (lose.test(context.request())) {
            lost.incrementAndGet();
            throw SdkClientException.create("the answer was lost");
        }
        if (context.response() instanceof ReceiveMessageResponse answer
                && answer.hasMessages()
                && !answer.messages().isEmpty()
                && received.compareAndSet(false, true)) {
            receiver.accept(answer.messages());
        }
        return context.response();
    }
}
