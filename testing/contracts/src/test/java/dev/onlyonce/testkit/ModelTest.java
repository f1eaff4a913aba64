package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.State;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tlc2.TLC;

/** Checks docs/internals/model with TLC, in a JVM of its own: TLC keeps its state in static fields. */
@DisplayName("The model")
class ModelTest {
    private static final Path FOLDER = Path.of(System.getProperty("onlyonce.root"), "docs/internals/model");
    private static final Pattern CHANGE = Pattern.compile("<<\"change\", <<\"(\\w+)\", \"(\\w+)\">>>>");
    private static final String ABSENT = "ABSENT";
    private static final String HOLDS = "Model checking completed. No error has been found.";
    private static final int SECONDS_MAX = 240;

    @TempDir
    Path folder;

    @Test
    @DisplayName(
            "D1 D2 D20 D23 has at most one effect, no lost result, a fence and an end for every key; it changes states as State allows")
    void holds() throws Exception {
        String printed = check(Files.readString(FOLDER.resolve("Onlyonce.cfg")));
        assertThat(printed).contains(HOLDS);
        Set<String> changes = new TreeSet<>();
        CHANGE.matcher(printed).results().forEach(change -> changes.add(change.group(1) + " " + change.group(2)));
        assertThat(changes).isEqualTo(allowed());
    }

    /** What may follow what. An entry begins as pending or processing, and goes when it may be purged. */
    private static Set<String> allowed() {
        Set<String> allowed = new TreeSet<>(Set.of(ABSENT + " PENDING", ABSENT + " PROCESSING"));
        for (State from : State.values()) {
            Arrays.stream(State.values()).filter(from::canBecome).forEach(to -> allowed.add(from + " " + to));
            if (from.isPurgeable()) {
                allowed.add(from + " " + ABSENT);
            }
        }
        return allowed;
    }

    @Test
    @DisplayName("D20 needs no patience where the provider executes a downstream key once")
    void honouredKey() throws Exception {
        String impatient = Files.readString(FOLDER.resolve("Onlyonce.cfg"))
                .replace("AbsentAfter = 2", "AbsentAfter = 0")
                .replace("KeyIsHonoured = FALSE", "KeyIsHonoured = TRUE");
        assertThat(check(only(impatient, "INVARIANTS AtMostOneEffect NoLostResult\nPROPERTIES Fencing")))
                .contains(HOLDS);
    }

    @ParameterizedTest
    @DisplayName("D1 D2 D5 D20 finds each of these faults")
    @CsvSource({
        "no fence, Fencing",
        "run again on lapse, AtMostOneEffect",
        "no look at the lease, AtMostOneEffect",
        "released on exception, AtMostOneEffect",
        "old testimony, NoForgottenEffect",
        "old finding, NoForgottenEffect"
    })
    void faults(String fault, String broken) throws Exception {
        String faulty = Files.readString(FOLDER.resolve("Onlyonce.cfg"))
                .replace("Fault = \"none\"", "Fault = \"" + fault + '"');
        breaks(faulty, broken);
    }

    @ParameterizedTest
    @DisplayName("D20 finds that an absence is believed while an owner may still act")
    @CsvSource({"0", "1"})
    void impatience(int absentAfter) throws Exception {
        String impatient = Files.readString(FOLDER.resolve("Onlyonce.cfg"))
                .replace("AbsentAfter = 2", "AbsentAfter = " + absentAfter);
        breaks(impatient, "AtMostOneEffect");
    }

    private void breaks(String configuration, String broken) throws Exception {
        assertThat(configuration).isNotEqualTo(Files.readString(FOLDER.resolve("Onlyonce.cfg")));
        boolean aboutSteps = broken.equals("Fencing");
        String printed = check(only(configuration, (aboutSteps ? "PROPERTIES " : "INVARIANTS ") + broken));
        assertThat(printed).contains((aboutSteps ? "Action property " : "Invariant ") + broken + " is violated");
    }

    private static String only(String configuration, String properties) {
        return configuration.replaceAll("(?m)^(INVARIANTS|PROPERTIES).*\n", "") + properties + "\n";
    }

    /** What TLC prints. */
    private String check(String configuration) throws IOException, InterruptedException {
        Path used = Files.writeString(folder.resolve("Used.cfg"), configuration);
        Files.copy(FOLDER.resolve("Onlyonce.tla"), folder.resolve("Onlyonce.tla"));
        Path tools = Path.of(
                TLC.class.getProtectionDomain().getCodeSource().getLocation().getPath());
        Path log = folder.resolve("printed");
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Djava.io.tmpdir=" + folder,
                "-cp",
                tools.toString(),
                TLC.class.getName(),
                "-workers",
                "1",
                "-lncheck",
                "final",
                "-metadir",
                folder.resolve("states").toString(),
                "-config",
                used.toString(),
                "Onlyonce.tla");
        Process tlc = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            assertThat(tlc.waitFor(SECONDS_MAX, TimeUnit.SECONDS)).isTrue();
        } finally {
            tlc.destroyForcibly();
        }
        return Files.readString(log);
    }
}
