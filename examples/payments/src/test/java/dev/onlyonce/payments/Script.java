package dev.onlyonce.payments;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;

/** The script {@code ./onlyonce} as people run it, on the classes under test instead of a jar that it would have to build. */
final class Script {
    private static final Path ROOT = Path.of(System.getProperty("onlyonce.root"));
    private static final long PATIENCE_SECONDS = 180;

    private final Path folder;
    private final Path jar;

    /** How a command ended. */
    record Ended(int code, String out, String err) {}

    /** For commands that run in this folder. */
    Script(Path folder) throws IOException {
        this.folder = folder;
        this.jar = folder.resolve("payments.jar");
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.put(Attributes.Name.MAIN_CLASS, Main.class.getName());
        attributes.put(
                Attributes.Name.CLASS_PATH,
                Arrays.stream(classPath.split(":"))
                        .map(entry -> Path.of(entry).toUri().toString())
                        .collect(Collectors.joining(" ")));
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream written = new JarOutputStream(out, manifest)) {
            written.finish();
        }
        Path here = Files.writeString(
                folder.resolve("onlyonce"), "#!/bin/sh\nexec " + ROOT.resolve("onlyonce") + " \"$@\"\n");
        Files.setPosixFilePermissions(here, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /** A program of the repository's documents. */
    static String document(String path) throws IOException {
        return Files.readString(ROOT.resolve(path));
    }

    /** Runs a command line to its end. */
    Ended run(String... command) throws IOException, InterruptedException {
        Path err = Files.createTempFile(folder, "err", "");
        Process process = builder(List.of(command)).redirectError(err.toFile()).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new IllegalStateException(String.join(" ", command) + " does not end");
        }
        return new Ended(process.exitValue(), out, Files.readString(err));
    }

    /** Starts {@code ./onlyonce demo} on free ports and waits until it has said how to try it. */
    Demo demo(String... options) throws IOException {
        List<String> command = new ArrayList<>(List.of("./onlyonce", "demo", "--data", "kept"));
        if (!List.of(options).contains("--port")) {
            command.addAll(List.of("--port", "0", "--provider-port", "0"));
        }
        command.addAll(List.of(options));
        Process process = builder(command)
                .redirectError(folder.resolve("demo.err").toFile())
                .start();
        Demo demo = new Demo(process);
        demo.read("Ctrl-C");
        return demo;
    }

    private ProcessBuilder builder(List<String> command) {
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
        builder.environment().put("ONLYONCE_PAYMENTS_JAR", jar.toString());
        builder.environment().put("ONLYONCE_JAVA_OPTS", "-Xmx256m -XX:TieredStopAtLevel=1");
        // On a busy machine the first payment of a new process takes longer than a client usually waits.
        builder.environment().put("PAYMENTS_WAITMAX", "60s");
        return builder;
    }

    /** A demo that runs. */
    static final class Demo implements AutoCloseable {
        private final Process process;
        private final BufferedReader reader;
        private final StringBuilder text = new StringBuilder();

        private Demo(Process process) {
            this.process = process;
            this.reader = process.inputReader();
        }

        /** Reads to a line that contains this, or to the end. */
        private void read(String last) {
            try {
                for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                    text.append(line).append('\n');
                    if (line.contains(last)) {
                        return;
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        String text() {
            return text.toString();
        }

        List<String> lines(String start) {
            return text.toString()
                    .lines()
                    .map(String::strip)
                    .filter(line -> line.startsWith(start))
                    .toList();
        }

        /**
         * Ends it as Ctrl-C does, but with SIGTERM: a build in the background is deaf to SIGINT, and so are its children.
         * Returns all that it has said.
         */
        String end() throws InterruptedException {
            process.toHandle().destroy(); // the process's own method would close what we read
            read("nothing that it says, so to the end");
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("The demo does not end");
            }
            return text();
        }

        /** The exit code, once it has ended by itself. */
        int ended() throws InterruptedException {
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("The demo does not end");
            }
            return process.exitValue();
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }
}
