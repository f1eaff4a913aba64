package dev.onlyonce.store;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import javax.net.ssl.TrustManagerFactory;

/** The certificate authorities in a PEM file, for stores that are asked over TLS and trust no others. */
public final class TrustedAuthorities {
    private TrustedAuthorities() {}

    /**
     * Reads the setting {@code ca} of a store.
     *
     * @throws StoreUnavailable with the name of the file, if it is missing or has no certificates
     */
    public static TrustManagerFactory read(Path pem) {
        try {
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(certificates(pem));
            return trust;
        } catch (IOException | GeneralSecurityException e) {
            throw new StoreUnavailable("The certificates in " + pem + " (ca=) cannot be read: " + e, e);
        }
    }

    private static KeyStore certificates(Path pem) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (InputStream in = Files.newInputStream(pem)) {
            for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
                store.setCertificateEntry("ca-" + store.size(), each);
            }
        }
        if (store.size() == 0) {
            throw new GeneralSecurityException("there is none");
        }
        return store;
    }
}
