package dev.onlyonce.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * A class with one place of its source changed.
 *
 * @param start of what is replaced
 * @param end behind it
 */
record SourceChange(RuleBook book, int start, int end, String replacement) {
    private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();
    /** One for all changes: it keeps the jars open, and what is in them. */
    private static final JavaFileManager FILES = COMPILER.getStandardFileManager(null, null, UTF_8);

    /**
     * Compiles the changed class.
     *
     * @param users the names of the classes that use it, as a pattern: they are loaded again
     */
    ClassLoader classes(String users) {
        String changed =
                book.source().substring(0, start) + replacement + book.source().substring(end);
        StringWriter messages = new StringWriter();
        Map<String, ByteArrayOutputStream> compiled = new HashMap<>();
        JavaFileManager files = new InMemory(FILES, compiled);
        List<String> options = List.of("-proc:none", "-nowarn", "-classpath", System.getProperty("java.class.path"));
        boolean done = COMPILER.getTask(messages, files, null, options, null, List.of(new Text(book.name(), changed)))
                .call();
        if (!done) {
            throw new IllegalStateException(this + " does not compile: " + messages);
        }
        return new Changed(Pattern.compile(users), compiled);
    }

    @Override
    public String toString() {
        String source = book.source();
        String replaced = source.substring(start, end).replaceAll("\\s+", " ");
        return method() + ": " + replaced + " -> " + replacement;
    }

    /** The method in which it is, for those who read the list. */
    private String method() {
        var names = Pattern.compile("(?m)^    \\w[^(;=]*? (\\w+)\\(")
                .matcher(book.source().substring(0, start));
        String last = "?";
        while (names.find()) {
            last = names.group(1);
        }
        return last;
    }

    /** A source in memory. */
    static final class Text extends SimpleJavaFileObject {
        private final String source;

        Text(String name, String source) {
            super(URI.create("memory:///" + name.replace('.', '/') + ".java"), Kind.SOURCE);
            this.source = source;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return source;
        }
    }

    /** Keeps what is compiled. */
    private static final class InMemory extends ForwardingJavaFileManager<JavaFileManager> {
        private final Map<String, ByteArrayOutputStream> compiled;

        InMemory(JavaFileManager files, Map<String, ByteArrayOutputStream> compiled) {
            super(files);
            this.compiled = compiled;
        }

        @Override
        public JavaFileObject getJavaFileForOutput(
                Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
            return new SimpleJavaFileObject(URI.create("memory:///" + name + ".class"), kind) {
                @Override
                public OutputStream openOutputStream() {
                    return compiled.computeIfAbsent(name, n -> new ByteArrayOutputStream());
                }
            };
        }
    }

    /** Has the changed class, and classes of its own that use it; everything else is shared. */
    private static final class Changed extends ClassLoader {
        private final Pattern users;
        private final Map<String, ByteArrayOutputStream> compiled;

        Changed(Pattern users, Map<String, ByteArrayOutputStream> compiled) {
            super(Changed.class.getClassLoader());
            this.users = users;
            this.compiled = compiled;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                if (loaded != null) {
                    return loaded;
                }
                boolean isOwn =
                        compiled.containsKey(name) || users.matcher(name).matches();
                return isOwn ? define(name) : super.loadClass(name, resolve);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            byte[] bytes = compiled.containsKey(name) ? compiled.get(name).toByteArray() : read(name);
            return defineClass(name, bytes, 0, bytes.length);
        }

        private byte[] read(String name) throws ClassNotFoundException {
            try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                if (in == null) {
                    throw new ClassNotFoundException(name);
                }
                return in.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
