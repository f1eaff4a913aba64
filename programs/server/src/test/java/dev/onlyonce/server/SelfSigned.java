package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * A certificate for 127.0.0.1 that nobody else has signed.
 *
 * @param certificate as PEM
 * @param key as PEM
 * @param store both, as PKCS12 with {@link #PASSWORD}
 * @param trusting for clients that know it
 */
record SelfSigned(Path certificate, Path key, Path store, SSLContext trusting) {
    static final String PASSWORD = "password";
    private static final String ALIAS = "self";

    /** Makes one, with {@code cert.pem} and {@code key.pem} in this folder. */
    static SelfSigned in(Path folder) throws Exception {
        Path file = folder.resolve("keys.p12");
        generate(file);
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD.toCharArray());
        }
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry(ALIAS, store.getCertificate(ALIAS));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext trusting = SSLContext.getInstance("TLS");
        trusting.init(null, trust.getTrustManagers(), null);
        return new SelfSigned(
                pem(
                        folder.resolve("cert.pem"),
                        "CERTIFICATE",
                        store.getCertificate(ALIAS).getEncoded()),
                pem(
                        folder.resolve("key.pem"),
                        "PRIVATE KEY",
                        store.getKey(ALIAS, PASSWORD.toCharArray()).getEncoded()),
                file,
                trusting);
    }

    private static void generate(Path file) throws Exception {
        keytool(file, ALIAS, "-genkeypair", "-keyalg", "EC", "-dname", "CN=localhost", "-ext", "SAN=ip:127.0.0.1");
    }

    /** Makes something of this name in a PKCS12 file. */
    static void keytool(Path file, String alias, String... arguments) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        // Halves the processor time of a start.
        command.addAll(List.of("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"));
        command.addAll(List.of(arguments));
        command.addAll(List.of("-alias", alias, "-storetype", "PKCS12", "-storepass", PASSWORD));
        command.addAll(List.of("-keystore", file.toString()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
    }

    static Path pem(Path file, String what, byte[] bytes) throws Exception {
        String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
        return Files.writeString(file, "-----BEGIN " + what + "-----\n" + base64 + "\n-----END " + what + "-----\n");
    }
}
