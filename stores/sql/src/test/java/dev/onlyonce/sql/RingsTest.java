package dev.onlyonce.sql;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The rooms of this module. That no other module enters the inner ones is a rule of the core's {@code TidyTest}. */
@DisplayName("The rooms of the SQL module")
class RingsTest {
    private static final String[] WAYS = {
        "dev.onlyonce.sql.transactions..",
        "dev.onlyonce.sql.outbox..",
        "dev.onlyonce.sql.steps..",
        "dev.onlyonce.sql.inbox.."
    };

    private static final JavaClasses SQL = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.onlyonce.sql", "dev.onlyonce.messages");

    @Test
    @DisplayName("have no cycles")
    void cycles() {
        slices().matching("dev.onlyonce.(**)").should().beFreeOfCycles().check(SQL);
    }

    @Test
    @DisplayName("the store does not know the ways to execute that are built on it")
    void ways() {
        noClasses()
                .that()
                .resideInAPackage("dev.onlyonce.sql..")
                .and()
                .resideOutsideOfPackages(WAYS)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(WAYS)
                .check(SQL);
    }

    @Test
    @DisplayName("what consumers share is built on the store, and the store does not know it")
    void consumers() {
        noClasses()
                .that()
                .resideInAPackage("dev.onlyonce.sql..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.onlyonce.messages..")
                .check(SQL);
    }

    @Test
    @DisplayName("use nothing of the core's internals")
    void internals() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.onlyonce.internal..")
                .check(SQL);
    }
}
