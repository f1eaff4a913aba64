package dev.onlyonce.server.config;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * The certificate authorities that are trusted for an upstream, and no others. Read once, so that all connections to it trust
 * the same ones. Thread-safe.
 */
public final class Authorities {
    private static final Pattern BEGIN = Pattern.compile("-----BEGIN ([^-\r\n]+)-----");
    private static final Pattern CERTIFICATE =
            Pattern.compile("-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----");

    private final TrustManagerFactory trust;

    private Authorities(TrustManagerFactory trust) {
        this.trust = trust;
    }

    /** Reads a PEM file; throws {@link IllegalArgumentException} with what is wrong with it and what to do. */
    static Authorities read(Path file) throws IOException {
        String text = Files.readString(file, StandardCharsets.ISO_8859_1);
        int blocks = checkBlocks(file, text);
        List<String> certificates =
                CERTIFICATE.matcher(text).results().map(MatchResult::group).toList();
        if (certificates.size() != blocks) {
            throw new IllegalArgumentException(file + " has a certificate without an end; copy it again");
        }
        try {
            return new Authorities(trusting(certificates));
        } catch (CertificateException e) {
            throw new IllegalArgumentException(
                    file + " has a certificate that cannot be read; copy it again: " + e.getMessage(), e);
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException(file + " cannot be used: " + e.getMessage(), e);
        }
    }

    /** How many certificates begin. */
    private static int checkBlocks(Path file, String text) {
        int certificates = 0;
        boolean pem = false;
        Matcher begin = BEGIN.matcher(text);
        while (begin.find()) {
            pem = true;
            if (begin.group(1).endsWith("PRIVATE KEY")) {
                throw new IllegalArgumentException(file
                        + " has a private key in it; name a file of certificates only, and keep the key elsewhere");
            }
            if (begin.group(1).equals("CERTIFICATE")) {
                certificates++;
            }
        }
        if (!pem) {
            throw new IllegalArgumentException(
                    file + " is not PEM; make it with: openssl x509 -inform der -in CERTIFICATE -out " + file);
        }
        if (certificates == 0) {
            throw new IllegalArgumentException(
                    file + " has no certificate, which begins with -----BEGIN CERTIFICATE-----; name the authority's");
        }
        return certificates;
    }

    private static TrustManagerFactory trusting(List<String> certificates)
            throws GeneralSecurityException, IOException {
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        for (String pem : certificates) {
            InputStream in = new ByteArrayInputStream(pem.getBytes(StandardCharsets.ISO_8859_1));
            trusted.setCertificateEntry(Integer.toString(trusted.size()), factory.generateCertificate(in));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        return trust;
    }

    /** For clients that trust only the configured authorities. */
    public TrustManagerFactory trustManagers() {
        return trust;
    }

    /** For clients that are given the whole of TLS. They verify host names themselves. */
    public SSLContext context() {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has TLS", e);
        }
    }
}
