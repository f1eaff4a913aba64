package dev.onlyonce;

import dev.onlyonce.store.AuditText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What a process is called in entries and in the audit, unless it is told a name: {@code host:pid}. */
public final class NodeName {
    private static final int HOST_LENGTH_MAX = 200;
    private static final String NAME = host() + ":" + ProcessHandle.current().pid();

    private NodeName() {}

    /** The name of this process. */
    public static String ofThisProcess() {
        return NAME;
    }

    /** As containers, Windows and Linux tell it. Nothing is asked of the network: that may take long. */
    private static String host() {
        String told = System.getenv("HOSTNAME");
        if (told == null || told.isBlank()) {
            told = System.getenv("COMPUTERNAME");
        }
        if (told == null || told.isBlank()) {
            told = ofFile(Path.of("/etc/hostname"));
        }
        String host = AuditText.who(told.strip());
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
