package dev.onlyonce;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.util.HashSet;
import java.util.Set;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * The rings of packages: what users type, what store authors write, and the rest, which nobody outside may rely on. What the sources of all modules must not contain is in {@link TidyTest}.
 */
@DisplayName("The rings")
class RingsTest {
    private static final String INTERNAL = "dev.onlyonce.internal..";
    private static final JavaClasses CORE = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.onlyonce");

    @Test
    @DisplayName("public signatures name no internal type")
    void publicSignatures() {
        classes()
                .that()
                .resideOutsideOfPackage(INTERNAL)
                .and()
                .arePublic()
                .should(nameNone(resideInAPackage(INTERNAL)))
                .check(CORE);
    }

    @Test
    @DisplayName("packages have no cycles")
    void cycles() {
        slices().matching("dev.(**)").should().beFreeOfCycles().check(CORE);
    }

    @Test
    @DisplayName("the core reads no SQL, opens no socket, and leans on few libraries")
    void libraries() {
        classes()
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(
                                "dev.onlyonce..",
                                "java.io..",
                                "java.lang..",
                                "java.math..",
                                "java.nio..",
                                "java.security..",
                                "java.text..",
                                "java.time..",
                                "java.util..",
                                "javax.crypto..",
                                "com.fasterxml.jackson..",
                                "com.github.benmanes.caffeine..",
                                "org.jspecify.annotations..",
                                "org.slf4j..")
                        .or(belongToAnyOf(URI.class, URLDecoder.class, URLEncoder.class, TrustManagerFactory.class)))
                .check(CORE);
    }

    private static ArchCondition<JavaClass> nameNone(DescribedPredicate<JavaClass> banned) {
        return new ArchCondition<>("name none of those that " + banned.getDescription()) {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                Set<JavaClass> named = new HashSet<>(type.getAllInvolvedRawTypes());
                type.getRawSuperclass().ifPresent(named::add);
                named.addAll(type.getRawInterfaces());
                for (JavaField field : type.getFields()) {
                    if (visible(field.getModifiers())) {
                        named.addAll(field.getAllInvolvedRawTypes());
                    }
                }
                for (JavaCodeUnit unit : type.getCodeUnits()) {
                    if (visible(unit.getModifiers())) {
                        named.addAll(unit.getAllInvolvedRawTypes());
                        named.addAll(unit.getExceptionTypes());
                    }
                }
                for (JavaClass one : named) {
                    if (banned.test(one)) {
                        events.add(SimpleConditionEvent.violated(type, type.getName() + " names " + one.getName()));
                    }
                }
            }
        };
    }

    private static boolean visible(Set<JavaModifier> modifiers) {
        return modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED);
    }
}
