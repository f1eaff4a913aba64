package dev.onlyonce.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The modules that the root {@code pom.xml} lists. The last part of a module's path is its name. */
public final class Modules {
    /** The folder of the whole project. */
    public static final Path ROOT = Path.of(System.getProperty("onlyonce.root"));

    private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");

    private Modules() {}

    /** The folder of each module, by the module's name. */
    public static Map<String, Path> all() throws IOException {
        Map<String, Path> modules = new TreeMap<>();
        Matcher module = MODULE.matcher(Files.readString(ROOT.resolve("pom.xml")));
        while (module.find()) {
            Path folder = ROOT.resolve(module.group(1));
            modules.put(folder.getFileName().toString(), folder);
        }
        return modules;
    }

    /** The Java sources below a folder of a module, in order; none if the module has no such folder. */
    public static List<Path> sources(Path module, String folder) throws IOException {
        List<Path> sources = new ArrayList<>();
        Path start = module.resolve(folder);
        if (Files.isDirectory(start)) {
            try (Stream<Path> files = Files.walk(start)) {
                files.filter(path -> path.toString().endsWith(".java")).sorted().forEach(sources::add);
            }
        }
        return sources;
    }
}
