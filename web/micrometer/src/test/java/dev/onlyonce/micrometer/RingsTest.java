package dev.onlyonce.micrometer;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The meters")
class RingsTest {
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.onlyonce.micrometer");

    @Test
    @DisplayName("know the core and the client alone")
    void imports() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "dev.onlyonce.internal..", "dev.onlyonce.http..", "dev.onlyonce.sql..", "org.springframework..")
                .check(CLASSES);
    }
}
