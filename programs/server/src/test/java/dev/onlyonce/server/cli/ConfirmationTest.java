package dev.onlyonce.server.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A command that asks first")
class ConfirmationTest {

    @ParameterizedTest
    @ValueSource(strings = {"y", "Y", "yes", " YES "})
    @DisplayName("goes on after yes")
    void yes(String answer) {
        Confirmation confirmation = question -> answer;
        assertThatCode(() -> confirmation.require("Send them?")).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "n", "no", "yess", "1"})
    @DisplayName("does nothing after any other answer")
    void no(String answer) {
        Confirmation confirmation = question -> answer;
        assertThatThrownBy(() -> confirmation.require("Send them?"))
                .isInstanceOfSatisfying(
                        Cli.Failed.class,
                        failed -> assertThat(failed.exitCode()).isEqualTo(Cli.FAILED));
    }

    @Test
    @DisplayName("does nothing when nobody can answer, and names the option for scripts")
    void nobody() {
        Confirmation confirmation = question -> null;
        assertThatThrownBy(() -> confirmation.require("Send them?"))
                .isInstanceOf(Cli.Failed.class)
                .hasMessageContaining("--yes");
    }
}
