package dev.onlyonce.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The types that the repository's sources declare, by simple name, with the text that declares them. */
final class SourceNames {
    private static final Pattern TYPE =
            Pattern.compile("(?m)^\\s*[a-z@\\- ]*\\b(?:class|interface|record|enum) ([A-Z]\\w*)");

    private static final Pattern IMPORT = Pattern.compile("(?m)^import [\\w.]+\\.([A-Z]\\w*);");
    private static final Pattern ALERT = Pattern.compile("alert: (\\w+)");
    /** A definition or a constant of the model. */
    private static final Pattern MODELLED = Pattern.compile("(?m)^(?:([A-Z]\\w*) ==|    ([A-Z]\\w*),? +\\\\\\*)");
    /** Of other projects, and imported by none of our sources. */
    private static final Set<String> FOREIGN = Set.of(
            "AbstractRoutingDataSource",
            "TransactionAwareDataSourceProxy",
            "SingleConnectionDataSource",
            "PutItem",
            "UpdateItem",
            "TransactWriteItems",
            "ThrottlingException",
            "ProvisionedThroughputExceededException");

    private final Map<String, String> texts = new HashMap<>();
    private final Set<String> imported = new HashSet<>(FOREIGN);

    private SourceNames() {}

    /** Reads the sources of all modules, tests included. */
    static SourceNames read() throws IOException {
        SourceNames names = new SourceNames();
        Matcher alert = ALERT.matcher(Files.readString(Pages.ROOT.resolve("docs/operating/alerts.yaml")));
        while (alert.find()) {
            names.imported.add(alert.group(1));
        }
        Matcher modelled = MODELLED.matcher(Files.readString(Pages.ROOT.resolve("docs/internals/model/Onlyonce.tla")));
        while (modelled.find()) {
            names.imported.add(modelled.group(1) == null ? modelled.group(2) : modelled.group(1));
        }
        try (Stream<Path> files = Files.walk(Pages.ROOT)) {
            for (Path file : files.filter(SourceNames::isSource).toList()) {
                String text = Files.readString(file);
                Matcher imports = IMPORT.matcher(text);
                while (imports.find()) {
                    names.imported.add(imports.group(1));
                }
                Matcher type = TYPE.matcher(text);
                while (type.find()) {
                    names.texts.merge(type.group(1), text, (one, other) -> one + other);
                }
            }
        }
        return names;
    }

    private static boolean isSource(Path file) {
        String name = Pages.ROOT.relativize(file).toString();
        return name.endsWith(".java") && name.contains("/src/") && !name.contains("/target/");
    }

    /** Whether our sources declare the type. */
    boolean hasType(String name) {
        return texts.containsKey(name);
    }

    /** Whether it is a type of ours, a type of others that our sources use, or an alert. */
    boolean isKnown(String name) {
        return hasType(name) || imported.contains(name) || isJavaLang(name);
    }

    private static boolean isJavaLang(String name) {
        try {
            return Class.forName("java.lang." + name) != null;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /**
     * Whether a file that declares the type mentions a method, field or nested type of this name. Always true for types of
     * others.
     */
    boolean hasMember(String type, String member) {
        if (!hasType(type)) {
            return isKnown(type);
        }
        return mentions(type, Pattern.quote(member) + "\\b");
    }

    /** Whether a file that declares the type of ours declares or calls a method of this name. */
    boolean hasMethod(String type, String method) {
        return hasType(type) && mentions(type, Pattern.quote(method) + "\\(");
    }

    private boolean mentions(String type, String pattern) {
        return Pattern.compile("\\b" + pattern).matcher(texts.get(type)).find();
    }
}
