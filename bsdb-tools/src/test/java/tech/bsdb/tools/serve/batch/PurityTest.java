package tech.bsdb.tools.serve.batch;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** What goes over the wire is made without sockets and files. */
final class PurityTest {
  private static final JavaClasses TOOLS =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("tech.bsdb.tools");

  @Test
  void theCodecKnowsBytesOnly() {
    classes()
        .that()
        .resideInAnyPackage("tech.bsdb.tools.serve.batch", "tech.bsdb.tools.text")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            "", // primitives and their arrays
            "java.lang..",
            "java.nio",
            "java.nio.charset",
            "java.util..",
            "org.jspecify.annotations",
            "tech.bsdb.tools.serve.batch",
            "tech.bsdb.tools.text")
        .check(TOOLS);
  }

  @Test
  void textKnowsNothingOfTheRest() {
    noClasses()
        .that()
        .resideInAPackage("tech.bsdb.tools.text")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("tech.bsdb.tools.serve..")
        .check(TOOLS);
  }
}
