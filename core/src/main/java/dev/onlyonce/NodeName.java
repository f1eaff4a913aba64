package dev.onlyonce;

import dev.onlyonce.store.AuditText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The default name of a node in entries and in the audit: {@code host:pid}. */
final class NodeName {
    private static final int HOST_LENGTH_MAX = 200;
    private static final String NAME = host() + ":" + ProcessHandle.current().pid();

    private NodeName() {}

    /** The name of this process. */
    static String ofThisProcess() {
        return NAME;
    }

    /** The host name as containers, Windows and Linux give it, without a network call, which may take long. */
    private static String host() {
        String name = System.getenv("HOSTNAME");
        if (name == null || name.isBlank()) {
            name = System.getenv("COMPUTERNAME");
        }
        if (name == null || name.isBlank()) {
            name = ofFile(Path.of("/etc/hostname"));
        }
        String host = AuditText.who(name.strip());
        return host.isEmpty() ? "localhost" : host.substring(0, Math.min(host.length(), HOST_LENGTH_MAX));
    }

    private static String ofFile(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return "";
        }
    }
}
