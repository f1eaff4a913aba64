package dev.onlyonce.testkit.http;

/** Some of the conformance suite. */
interface Part {
    /** Talks to the application. */
    Client client();

    /** A request to one of its paths, with a new key and a new effect. */
    default Call call(String path) {
        return client().call(path);
    }
}
