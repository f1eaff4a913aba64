package dev.onlyonce.testservers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * A certificate authority that nobody trusts, and a certificate of it for 127.0.0.1. Made with the JDK's keytool.
 *
 * @param ca its own certificate, as PEM
 * @param certificate for servers, as PEM
 * @param key of that certificate, as PEM
 * @param store key and certificates of both, as PKCS12 with {@link #PASSWORD}
 * @param trust the authority's certificate alone, as PKCS12 with {@link #PASSWORD}
 */
public record TestAuthority(Path ca, Path certificate, Path key, Path store, Path trust) {
    /** Of the key stores. */
    public static final String PASSWORD = "changeit";

    private static final String AUTHORITY = "ca";
    private static final String SERVER = "server";

    /** Makes one, with its files in this folder. */
    public static TestAuthority in(Path folder) {
        Path authority = folder.resolve("authority.p12");
        Path store = folder.resolve("server.p12");
        Path trust = folder.resolve("trust.p12");
        Path ca = folder.resolve("ca.pem");
        keytool(authority, AUTHORITY, "-genkeypair", "-keyalg", "EC", "-dname", "CN=Test authority", "-ext", "bc:c");
        keytool(authority, AUTHORITY, "-exportcert", "-rfc", "-file", ca.toString());
        try {
            // The key of the server is signed where the authority's is; servers that take the only key of a store get
            // one.
            Files.copy(authority, store);
            keytool(
                    store,
                    SERVER,
                    "-genkeypair",
                    "-keyalg",
                    "EC",
                    "-dname",
                    "CN=Test server",
                    "-ext",
                    "SAN=ip:127.0.0.1,dns:localhost",
                    "-signer",
                    AUTHORITY);
            keytool(store, AUTHORITY, "-delete");
            keytool(trust, AUTHORITY, "-importcert", "-noprompt", "-file", ca.toString());
            KeyStore keys = KeyStore.getInstance("PKCS12");
            try (InputStream in = Files.newInputStream(store)) {
                keys.load(in, PASSWORD.toCharArray());
            }
            return new TestAuthority(
                    ca,
                    pem(
                            folder.resolve("server.pem"),
                            "CERTIFICATE",
                            keys.getCertificate(SERVER).getEncoded()),
                    pem(
                            folder.resolve("server-key.pem"),
                            "PRIVATE KEY",
                            keys.getKey(SERVER, PASSWORD.toCharArray()).getEncoded()),
                    store,
                    trust);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Path pem(Path file, String what, byte[] bytes) throws IOException {
        String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
        return Files.writeString(file, "-----BEGIN " + what + "-----\n" + base64 + "\n-----END " + what + "-----\n");
    }

    private static void keytool(Path file, String alias, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        // Halves the processor time of a start.
        command.addAll(List.of("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"));
        command.addAll(List.of(arguments));
        command.addAll(List.of("-alias", alias, "-storetype", "PKCS12", "-storepass", PASSWORD));
        command.addAll(List.of("-keystore", file.toString()));
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0) {
                throw new IllegalStateException("keytool failed: " + said);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while making a certificate", e);
        }
    }
}
