package dev.onlyonce.server;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;

/** The application of the HTTP conformance suite in Node, in a process of its own. */
final class NodeUpstream implements GatewayConformance.Service {
    private static final Path SCRIPT =
            ConfigFileTest.root().resolve("programs/server/src/test/resources/conformance/upstream.js");

    private final Process process;
    private final URI url;

    private NodeUpstream(Process process, URI url) {
        this.process = process;
        this.url = url;
    }

    /** Starts it; where Node is not installed, the test is skipped and says so. */
    static NodeUpstream start() throws IOException {
        Process process = launch();
        BufferedReader out = process.inputReader();
        String port = out.readLine();
        if (port == null) {
            throw new IOException(
                    "Node ended with exit code " + process.onExit().join().exitValue());
        }
        return new NodeUpstream(process, URI.create("http://127.0.0.1:" + port));
    }

    private static Process launch() {
        try {
            return new ProcessBuilder("node", SCRIPT.toString())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
        } catch (IOException e) {
            return abort(
                    "skipped: there is no program \"node\" on the PATH, which this test puts the gateway in front of");
        }
    }

    @Override
    public URI url() {
        return url;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
