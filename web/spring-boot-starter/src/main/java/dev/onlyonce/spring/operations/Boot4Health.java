package dev.onlyonce.spring.operations;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/** The health indicators of Spring Boot 4. */
public final class Boot4Health {
    private Boot4Health() {}

    /** An indicator that logs what the check throws. */
    public static HealthIndicator of(HealthLook check) {
        return new AbstractHealthIndicator(check.getClass().getSimpleName() + " failed") {
            @Override
            protected void doHealthCheck(Health.Builder builder) {
                HealthLook.Report report = check.check();
                builder.up().withDetails(report.details());
                if (report.trouble() != null) {
                    builder.down(report.trouble());
                }
            }
        };
    }
}
