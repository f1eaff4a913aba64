package dev.onlyonce.jaxrs;

/** Takes an exception from the mapper that has seen it to the filters, which JAX-RS does not tell of it. */
record Thrown(Throwable cause) {
    /** Property of the request: what has left the resource method. */
    static final String PROPERTY = Thrown.class.getName();
}
