package dev.onlyonce.servlet;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The servlet module")
class RingsTest {
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.onlyonce.servlet");

    @Test
    @DisplayName("knows HTTP and servlets, and neither a database nor a framework")
    void imports() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("dev.onlyonce.internal..", "dev.onlyonce.sql..", "org.springframework..")
                .check(CLASSES);
    }
}
