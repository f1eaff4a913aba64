package dev.onlyonce.store;

import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.Stream;

/**
 * Opens stores by their URL. A store's module names its provider in {@code META-INF/services}, so that the gateway, the command line and
 * the Spring Boot starter find it when the module is on the class path.
 */
public interface StoreProvider {
    /** Whether it opens URLs with this scheme. */
    boolean accepts(String url);

    /** A URL that shows people what to write. */
    String example();

    /**
     * Finds mistakes in a URL without connecting.
     *
     * @throws IllegalArgumentException with what to write instead, without the password
     */
    void check(String url);

    /**
     * Opens a store.
     *
     * @throws StoreException if it cannot be reached, refuses the credentials, or has not the tables it needs
     * @throws IllegalArgumentException if the URL is wrong
     */
    Store open(StoreOptions options);

    /**
     * Puts a cache that all nodes share in front of a store. Closing the returned store closes both.
     *
     * @throws IllegalArgumentException if there is no cache of this kind, or the options are wrong
     */
    default Store cache(Store store, CacheOptions options) {
        throw new IllegalArgumentException("there is no cache at URLs like " + example());
    }

    /** The provider for a URL; empty if no module on the class path has one. */
    static Optional<StoreProvider> of(String url) {
        return all().filter(provider -> provider.accepts(url)).findFirst();
    }

    /** The providers of the modules on the class path. */
    static Stream<StoreProvider> all() {
        return ServiceLoader.load(StoreProvider.class, StoreProvider.class.getClassLoader()).stream()
                .map(ServiceLoader.Provider::get);
    }
}
