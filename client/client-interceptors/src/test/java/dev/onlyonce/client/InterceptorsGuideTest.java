package dev.onlyonce.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("docs/guides/client.md")
class InterceptorsGuideTest {
    private static final Pattern JAVA = Pattern.compile("```java\\n(.*?\\nclass (With\\w+).*?)```", Pattern.DOTALL);

    @Test
    @DisplayName("shows code for OkHttp and Spring that compiles")
    void compiles(@TempDir Path folder) throws Exception {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<String> arguments = new ArrayList<>(List.of("-cp", classPath, "-d", folder.toString()));
        String page = Files.readString(Path.of(System.getProperty("onlyonce.root"), "docs/guides/client.md"));
        int from = page.indexOf("## With OkHttp");
        Matcher block = JAVA.matcher(page.substring(from));
        while (block.find()) {
            Path file = folder.resolve(block.group(2) + ".java");
            arguments.add(Files.writeString(file, block.group(1)).toString());
        }
        assertThat(arguments).hasSize(6);
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new)))
                .isZero();
    }
}
