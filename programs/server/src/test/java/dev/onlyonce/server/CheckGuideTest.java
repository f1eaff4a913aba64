package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.server.CheckCommandTest.Ran;
import dev.onlyonce.testkit.broken.NaiveService;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Runs what the guide shows; with {@code -Dreference.write=true} it writes the results into it. */
@DisplayName("docs/guides/check.md")
class CheckGuideTest {
    private static final Path PAGE = ConfigFileTest.root().resolve("docs/guides/check.md");
    private static final String BODY = "{\"amount\": 100}";
    private static final Pattern FAILURE = Pattern.compile("(?m)^FAIL .*\n {6}.*\n");
    /** What a busy machine may change: how many requests met. */
    private static final Pattern DETAIL = Pattern.compile("(?m)^ {6}.*\n");

    @Test
    @DisplayName("shows how a service with SETNX fails")
    void setnx() throws IOException {
        try (NaiveService service = NaiveService.setnx()) {
            Ran ran = check(service);
            assertThat(ran.exitCode()).isEqualTo(1);
            compare("setnx", failures(ran.out()), true);
        }
    }

    @Test
    @DisplayName("shows how a service that selects, then inserts, fails")
    void selectThenInsert() throws IOException {
        try (NaiveService service = NaiveService.selectThenInsert()) {
            Ran ran = check(service);
            assertThat(ran.exitCode()).isEqualTo(1);
            compare("select-then-insert", failures(ran.out()), true);
        }
    }

    @Test
    @DisplayName("shows the two exchanges of a failure")
    void exchanges() throws IOException {
        try (NaiveService service = NaiveService.setnx()) {
            String out = check(service, "--only", "replay").out();
            compare("exchanges", out.substring(out.indexOf("\n\n") + 2), false);
        }
    }

    private static Ran check(NaiveService service, String... more) {
        String[] arguments = new String[more.length + 8];
        arguments[0] = "--body";
        arguments[1] = BODY;
        arguments[2] = "--count";
        arguments[3] = service.counter() + "#/charges";
        arguments[4] = "--profile";
        arguments[5] = "strict";
        arguments[6] = "--remember";
        arguments[7] = "0";
        System.arraycopy(more, 0, arguments, 8, more.length);
        Ran ran = CheckCommandTest.check(service.url().toString(), arguments);
        String text = ran.out()
                .replace(service.url().getAuthority(), "127.0.0.1:9000")
                .replaceAll("[0-9a-f]{8}-[0-9a-f-]{27}", "8e03978e-40d5-43e8-bc93-6894a57f9324");
        return new Ran(ran.exitCode(), text, ran.err());
    }

    /** Of the table the checks that failed, and the grade. */
    private static String failures(String out) {
        String table = out.substring(0, out.indexOf("\n\n") + 1);
        StringBuilder failures = new StringBuilder();
        Matcher failure = FAILURE.matcher(table);
        while (failure.find()) {
            failures.append(failure.group());
        }
        return failures + out.substring(out.lastIndexOf("Grade "));
    }

    private static void compare(String name, String shown, boolean detailsMayDiffer) throws IOException {
        String page = Files.readString(PAGE);
        Matcher block = Pattern.compile("(<!-- " + name + " -->\n```\n)(.*?)(```\n)", Pattern.DOTALL)
                .matcher(page);
        assertThat(block.find()).as("a block " + name).isTrue();
        if (Boolean.getBoolean("reference.write")) {
            Files.writeString(PAGE, page.substring(0, block.start(2)) + shown + page.substring(block.end(2)));
            return;
        }
        String expected = block.group(2);
        assertThat(detailsMayDiffer ? DETAIL.matcher(shown).replaceAll("") : shown)
                .isEqualTo(detailsMayDiffer ? DETAIL.matcher(expected).replaceAll("") : expected);
    }
}
