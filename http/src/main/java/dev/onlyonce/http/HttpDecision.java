package dev.onlyonce.http;

/** What is to be done with a request. */
public sealed interface HttpDecision {
    /** It is not protected: hand it on as it came, and its response too. */
    record PassThrough() implements HttpDecision {}

    /** It is to be executed now: hand it on, and end the exchange whatever happens. */
    record Run(Exchange exchange) implements HttpDecision {}

    /** It is not to be executed: send this. */
    record Answer(HttpAnswer answer) implements HttpDecision {}
}
