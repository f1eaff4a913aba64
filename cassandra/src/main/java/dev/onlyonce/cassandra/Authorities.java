package dev.onlyonce.cassandra;

import com.datastax.oss.driver.api.core.ssl.ProgrammaticSslEngineFactory;
import com.datastax.oss.driver.api.core.ssl.SslEngineFactory;
import dev.onlyonce.store.StoreUnavailable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Certificate authorities in a PEM file. */
final class Authorities {
    private Authorities() {}

    /** TLS that trusts these authorities only, and verifies host names. */
    static SslEngineFactory tls(Path pem) {
        try {
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(read(pem));
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return new ProgrammaticSslEngineFactory(context, null, true);
        } catch (IOException | GeneralSecurityException e) {
            throw new StoreUnavailable("The certificates in " + pem + " (ca=) cannot be read: " + e, e);
        }
    }

    private static KeyStore read(Path pem) throws IOException, GeneralSecurityException {
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
