package dev.onlyonce.spring.operations;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Prints what is wrong and what to change instead of a stack trace. */
public final class InvalidSettingsAnalyzer extends AbstractFailureAnalyzer<InvalidSettings> {
    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InvalidSettings cause) {
        return new FailureAnalysis(String.valueOf(cause.getMessage()), cause.action(), cause);
    }
}
