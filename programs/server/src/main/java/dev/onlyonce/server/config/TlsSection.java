package dev.onlyonce.server.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** {@code listen.tls}: a certificate and its private key. With a pair that does not match, no client could connect. */
final class TlsSection {
    private static final Pattern PKCS8 = Pattern.compile("-----BEGIN PRIVATE KEY-----([^-]*)-----END PRIVATE KEY-----");
    private static final Map<String, String> SIGNATURES =
            Map.of("RSA", "SHA256withRSA", "EC", "SHA256withECDSA", "EdDSA", "EdDSA");

    private final Section section;
    private @Nullable PublicKey publicKey;

    TlsSection(Section section) {
        this.section = section;
    }

    Listen.@Nullable Tls read() {
        Path certificate = section.file("certificate", this::checkCertificate);
        Path key = section.file("key", this::checkKey);
        if (!section.has("certificate") || !section.has("key")) {
            section.wrong("needs both \"certificate\" and \"key\", each a PEM file");
        }
        section.end();
        return certificate == null || key == null ? null : new Listen.Tls(certificate, key);
    }

    private void checkCertificate(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            publicKey = CertificateFactory.getInstance("X.509").generateCertificates(in).stream()
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException(file + " has no certificate"))
                    .getPublicKey();
        } catch (CertificateException e) {
            throw new IllegalArgumentException(file + " is not a certificate in PEM: " + e.getMessage(), e);
        }
    }

    private void checkKey(Path file) throws IOException {
        String text = Files.readString(file, StandardCharsets.ISO_8859_1);
        Matcher pem = PKCS8.matcher(text);
        if (pem.find()) {
            checkPair(file, pem.group(1));
        } else if (!text.contains("-----BEGIN RSA PRIVATE KEY-----")) {
            throw new IllegalArgumentException(
                    file + " is not an unencrypted private key in PEM; make one with: openssl pkcs8 -topk8 -nocrypt");
        }
    }

    /** Of a kind of key that is not known here, the server says at its start whether it can use it. */
    private void checkPair(Path file, String base64) {
        if (publicKey == null || !SIGNATURES.containsKey(publicKey.getAlgorithm())) {
            return;
        }
        boolean fits;
        try {
            fits = isPair(publicKey, Base64.getMimeDecoder().decode(base64));
        } catch (GeneralSecurityException e) {
            fits = false;
        }
        if (!fits) {
            throw new IllegalArgumentException(
                    file + " is not the private key of the certificate; name the one that it was made with");
        }
    }

    private static boolean isPair(PublicKey publicKey, byte[] pkcs8) throws GeneralSecurityException {
        PrivateKey key =
                KeyFactory.getInstance(publicKey.getAlgorithm()).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
        Signature signature = Signature.getInstance(SIGNATURES.get(publicKey.getAlgorithm()));
        signature.initSign(key);
        byte[] signed = signature.sign();
        signature.initVerify(publicKey);
        return signature.verify(signed);
    }
}
