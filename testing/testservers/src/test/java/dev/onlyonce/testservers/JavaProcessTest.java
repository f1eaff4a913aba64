package dev.onlyonce.testservers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A program in a JVM of its own")
class JavaProcessTest {
    static final class Busy {
        private Busy() {}

        public static void main(String[] args) throws IOException {
            new Thread(() -> {
                        while (true) {
                            LockSupport.park();
                        }
                    })
                    .start();
            JavaProcess.runUntilKilled();
        }
    }

    @Test
    @DisplayName("ends when the JVM that started it is gone, although its threads go on")
    void ends() throws Exception {
        Process process = JavaProcess.start(Busy.class);
        try {
            // As the operating system does when this JVM is killed.
            process.getOutputStream().close();
            assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }
}
