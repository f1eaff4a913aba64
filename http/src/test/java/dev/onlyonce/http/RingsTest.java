package dev.onlyonce.http;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What the HTTP semantics may lean on. */
@DisplayName("The HTTP module")
class RingsTest {
    private static final JavaClasses HTTP = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.onlyonce.http");

    @Test
    @DisplayName("knows the core's API and store, none of its internals, no server and no network")
    void imports() {
        classes()
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "dev.onlyonce",
                        "dev.onlyonce.http..",
                        "dev.onlyonce.store..",
                        "dev.onlyonce.fingerprint..",
                        "com.fasterxml.jackson..",
                        "com.github.benmanes.caffeine..",
                        "io.github.bucket4j..",
                        "java.io..",
                        "java.lang..",
                        "java.math..",
                        "java.nio..",
                        "java.security..",
                        "java.time..",
                        "java.util..",
                        "javax.crypto..",
                        "org.jspecify.annotations..",
                        "org.slf4j..")
                .check(HTTP);
    }
}
