package dev.onlyonce.prove;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/** A gateway before the ledger, as operators run it: the program {@code onlyonce}, with a file of settings. */
record GatewayProgram(int port, Path config) implements NodeProcess.Program {
    private static final String SETTINGS = """
            listen: {host: 127.0.0.1, port: %d}
            admin: {host: 127.0.0.1, port: %d}
            tenants: {header: {name: Tenant, from: [127.0.0.1/32]}}
            upstreams:
              - name: ledger
                url: http://127.0.0.1:%d
                response-timeout: 2s
            defaults: {lease: %ds, call-max: %ds}
            operations:
              - method: POST
                path: /%s
                look-up:
                  request: GET /%s?tenant={tenant}&key={key}
                  found: {status: 200, pointer: /answer}
                  absent: {status: 200, pointer: /answer, missing: true}
                  answer: {status: 200, pointer: /answer}
                  absent-after: %ds
            store:
              url: "%s"%s
            data: %s
            """;

    private static final String CREDENTIALS = "\n  user: local\n  password: local";

    /**
     * Writes its settings.
     *
     * @param url of the store
     * @param ledger the port of the service behind it
     */
    static GatewayProgram of(String name, String url, int ledger, Path folder) throws IOException {
        Path data = ownFolder(folder.resolve(name));
        int port = freePort();
        String text = SETTINGS.formatted(
                port,
                freePort(),
                ledger,
                Timing.LEASE.toSeconds(),
                Timing.PROXIED_CALL_MAX.toSeconds(),
                Ledger.PROXIED,
                Ledger.SEEK,
                Timing.PROXIED_CALL_MAX.toSeconds(),
                url,
                StoreAccess.user(url) == null ? "" : CREDENTIALS,
                data);
        return new GatewayProgram(port, Files.writeString(data.resolve("gateway.yaml"), text));
    }

    /** A folder that others cannot read, as a gateway wants it. */
    static Path ownFolder(Path folder) throws IOException {
        return Files.createDirectories(
                folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @Override
    public List<String> arguments() {
        return List.of(Guarded.class.getName(), "dev.onlyonce.server.Main", "gateway", "--config", config.toString());
    }

    @Override
    public int portIfUp() throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.getPort();
        } catch (ConnectException e) {
            return 0;
        }
    }

    @Override
    public String path(Work work) {
        return "/" + Ledger.PROXIED;
    }

    @Override
    public boolean executes(Work.Way way) {
        return way == Work.Way.PROXIED;
    }
}
