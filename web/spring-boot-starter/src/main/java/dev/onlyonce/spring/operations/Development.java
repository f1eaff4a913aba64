package dev.onlyonce.spring.operations;

import org.springframework.core.env.Environment;
import org.springframework.core.env.Profiles;

/** Whether a developer starts the application, to whom it may explain itself. */
public final class Development {
    private static final Profiles DEVELOPMENT = Profiles.of("dev | development | local | test");
    private static final Profiles NONE = Profiles.of("default");
    private static final String PACKAGED = "org/springframework/boot/loader/launch/Launcher.class";

    private Development() {}

    /** Whether a profile says so. */
    public static boolean isNamed(Environment environment) {
        return environment.acceptsProfiles(DEVELOPMENT);
    }

    /**
     * Without a profile it depends on how the application was started: an IDE and {@code mvn spring-boot:run} need no package, and
     * services for others often run without a profile.
     */
    public static boolean isHere(Environment environment, ClassLoader classes) {
        return environment.acceptsProfiles(DEVELOPMENT)
                || (environment.acceptsProfiles(NONE) && classes.getResource(PACKAGED) == null);
    }
}
