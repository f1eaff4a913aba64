package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.engine.CancellationToken;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherExecutionRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** A contract is worth what it refuses: each broken store must fail it. */
class StoreContractTest {

    @ParameterizedTest
    @MethodSource("dev.onlyonce.testkit.Mutant#all")
    @DisplayName("a store that breaks one rule fails the contract")
    void refuses(Mutant mutant) {
        MutatedContract.mutant = mutant;
        assertThat(firstFailure()).as("failures with %s", mutant).isNotEmpty();
    }

    /** Stops at the first failure: one is enough. */
    private static List<String> firstFailure() {
        List<String> failures = new ArrayList<>();
        CancellationToken enough = CancellationToken.create();
        TestExecutionListener listener = new TestExecutionListener() {
            @Override
            public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                if (test.isTest() && result.getStatus() == TestExecutionResult.Status.FAILED) {
                    failures.add(test.getDisplayName() + ": " + result.getThrowable());
                    enough.cancel();
                }
            }
        };
        LauncherFactory.create()
                .execute(LauncherExecutionRequestBuilder.request(LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectClass(MutatedContract.class))
                                .build())
                        .listeners(listener)
                        .cancellationToken(enough)
                        .build());
        return failures;
    }
}
