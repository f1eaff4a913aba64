package dev.onlyonce.server;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Who may import what in the program {@code onlyonce}. */
@DisplayName("The packages of the server")
class RingsTest {
    private static final JavaClasses SERVER = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.onlyonce.server");

    @Test
    @DisplayName("have no cycles")
    void cycles() {
        slices().matching("dev.onlyonce.server.(*)..").should().beFreeOfCycles().check(SERVER);
    }

    @Test
    @DisplayName("use nothing of the core's internals")
    void internals() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.onlyonce.internal..")
                .check(SERVER);
    }

    @Test
    @DisplayName("are layers: the command line starts a gateway, which forwards by a proxy that knows no keys")
    void layers() {
        layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .layer("cli")
                .definedBy("dev.onlyonce.server.cli..")
                .layer("gateway")
                .definedBy("dev.onlyonce.server.gateway..")
                .layer("admin")
                .definedBy("dev.onlyonce.server.admin..")
                .layer("proxy")
                .definedBy("dev.onlyonce.server.proxy..")
                .layer("observe")
                .definedBy("dev.onlyonce.server.observe..")
                .layer("config")
                .definedBy("dev.onlyonce.server.config..")
                .whereLayer("cli")
                .mayNotBeAccessedByAnyLayer()
                .whereLayer("gateway")
                .mayOnlyBeAccessedByLayers("cli")
                .whereLayer("admin")
                .mayOnlyBeAccessedByLayers("cli", "gateway")
                .whereLayer("proxy")
                .mayOnlyBeAccessedByLayers("gateway")
                .whereLayer("observe")
                .mayOnlyBeAccessedByLayers("cli", "gateway", "admin")
                .check(SERVER);
        noClasses()
                .that()
                .resideInAPackage("dev.onlyonce.server.proxy..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("dev.onlyonce", "dev.onlyonce.store..", "dev.onlyonce.sql..")
                .check(SERVER);
    }
}
