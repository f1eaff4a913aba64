package dev.onlyonce.cassandra;

import com.datastax.oss.driver.api.core.ssl.ProgrammaticSslEngineFactory;
import com.datastax.oss.driver.api.core.ssl.SslEngineFactory;
import dev.onlyonce.store.TrustedAuthorities;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import javax.net.ssl.SSLContext;

/** Certificate authorities in a PEM file. */
final class Authorities {
    private Authorities() {}

    /** TLS that trusts these authorities only, and verifies host names. */
    static SslEngineFactory tls(Path pem) {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, TrustedAuthorities.read(pem).getTrustManagers(), null);
            return new ProgrammaticSslEngineFactory(context, null, true);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has TLS", e);
        }
    }
}
