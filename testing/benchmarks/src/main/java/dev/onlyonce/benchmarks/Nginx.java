package dev.onlyonce.benchmarks;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** An nginx process with a configuration of its own. */
final class Nginx implements AutoCloseable {
    private static final long PAUSE_NANOS = 20_000_000;
    private static final int TRIES = 500;

    private final Child process;
    private final int port;

    private Nginx(Child process, int port) {
        this.process = process;
        this.port = port;
    }

    /** Where it is: as given, or on the path. */
    static Optional<String> find(String given) {
        if (!given.isEmpty()) {
            return Optional.of(given);
        }
        String path = System.getenv("PATH") + ":/usr/sbin:/usr/local/sbin";
        return Stream.of(path.split(":"))
                .map(folder -> Path.of(folder, "nginx"))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .findFirst();
    }

    /** A service that answers everything with a small JSON document, and costs next to nothing. */
    static Nginx service(String nginx, Path folder) throws IOException {
        return start(nginx, folder, 1, "", """
                    default_type application/json;
                    location / { return 200 '%s'; }
                """.formatted(VertxService.ANSWER));
    }

    /** A plain proxy in front of a service. */
    static Nginx proxy(String nginx, Path folder, int port) throws IOException {
        int workers = Runtime.getRuntime().availableProcessors();
        return start(nginx, folder, workers, """
                  upstream service { server 127.0.0.1:%d; keepalive 512; keepalive_requests 1000000000; }
                """.formatted(port), """
                    location / {
                      proxy_pass http://service;
                      proxy_http_version 1.1;
                      proxy_set_header Connection "";
                      proxy_set_header Host $host;
                      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
                      proxy_set_header X-Forwarded-Proto $scheme;
                    }
                """);
    }

    private static Nginx start(String nginx, Path folder, int workers, String upstream, String server)
            throws IOException {
        int port = freePort();
        Path home = Files.createDirectories(folder.resolve("nginx-" + port));
        Path config =
                Files.writeString(home.resolve("nginx.conf"), """
                daemon off;
                pid %1$s/pid;
                error_log %1$s/error.log;
                worker_processes %2$d;
                events { worker_connections 4096; }
                http {
                  access_log off;
                  client_body_temp_path %1$s/body;
                  proxy_temp_path %1$s/proxy;
                  fastcgi_temp_path %1$s/fastcgi;
                  uwsgi_temp_path %1$s/uwsgi;
                  scgi_temp_path %1$s/scgi;
                  keepalive_requests 1000000000;
                %3$s
                  server {
                    listen 127.0.0.1:%4$d;
                %5$s
                  }
                }
                """.formatted(home, workers, upstream, port, server));
        Child process = Child.program(
                List.of(nginx, "-p", home.toString(), "-e", home + "/error.log", "-c", config.toString()));
        awaitListening(port);
        return new Nginx(process, port);
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static void awaitListening(int port) throws IOException {
        for (int i = 0; ; i++) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                return;
            } catch (IOException e) {
                if (i == TRIES) {
                    throw e;
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    int port() {
        return port;
    }

    @Override
    public void close() throws IOException {
        process.close();
    }
}
