package dev.onlyonce.server;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;

/** A certificate authority of a test. */
final class Authority {
    private static final String SELF = "ca";

    private final Path folder;
    private final Path keys;
    private int count;

    private Authority(Path folder) {
        this.folder = folder;
        this.keys = folder.resolve("keys.p12");
    }

    /** Certificate and private key, both PEM. */
    record Issued(Path certificate, Path key) {}

    /** Makes one that has this folder, which is made too. All have the same name: that proves nothing. */
    static Authority in(Path folder) throws Exception {
        Authority authority = new Authority(Files.createDirectory(folder));
        SelfSigned.keytool(
                authority.keys, SELF, "-genkeypair", "-keyalg", "EC", "-dname", "CN=Authority", "-ext", "bc:c");
        return authority;
    }

    /** Its own certificate. */
    Path certificate() throws Exception {
        return SelfSigned.pem(
                folder.resolve("ca.pem"),
                "CERTIFICATE",
                open().getCertificate(SELF).getEncoded());
    }

    /** Signs a certificate, for example for {@code ip:127.0.0.1}. */
    Issued issue(String alternativeName) throws Exception {
        String alias = "issued" + ++count;
        SelfSigned.keytool(
                keys,
                alias,
                "-genkeypair",
                "-keyalg",
                "EC",
                "-dname",
                "CN=Issued",
                "-ext",
                "SAN=" + alternativeName,
                "-signer",
                SELF);
        KeyStore store = open();
        return new Issued(
                SelfSigned.pem(
                        folder.resolve(alias + ".pem"),
                        "CERTIFICATE",
                        store.getCertificate(alias).getEncoded()),
                SelfSigned.pem(
                        folder.resolve(alias + "-key.pem"),
                        "PRIVATE KEY",
                        store.getKey(alias, SelfSigned.PASSWORD.toCharArray()).getEncoded()));
    }

    private KeyStore open() throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(keys)) {
            store.load(in, SelfSigned.PASSWORD.toCharArray());
        }
        return store;
    }
}
