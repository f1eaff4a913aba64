package dev.onlyonce.spring;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The starter")
class RingsTest {
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.onlyonce.spring");

    @Test
    @DisplayName("uses what other modules offer to applications, and nothing internal")
    void imports() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "dev.onlyonce.internal..",
                        "dev.onlyonce.sql.internal.connections..",
                        "dev.onlyonce.sql.internal.entries..")
                .check(CLASSES);
    }

    @Test
    @DisplayName("has no cycles of packages")
    void cycles() {
        slices().matching("dev.onlyonce.spring.(*)..")
                .should()
                .beFreeOfCycles()
                .allowEmptyShould(true)
                .check(CLASSES);
    }
}
