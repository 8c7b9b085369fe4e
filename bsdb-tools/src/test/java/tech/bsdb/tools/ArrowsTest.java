package tech.bsdb.tools;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which packages know which, and which of them know the large libraries. */
class ArrowsTest {
  private static final String TOOLS = "tech.bsdb.tools.";
  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("tech.bsdb.tools");

  @ParameterizedTest
  @CsvSource({
    "org.apache.hadoop.., lake",
    "org.apache.parquet.column.., parquet",
    "org.apache.parquet.schema.., parquet",
    "io.netty.., serve",
    "io.prometheus.., serve",
  })
  void onlyOnePackageKnows(String library, String only) {
    noClasses()
        .that()
        .resideOutsideOfPackage(TOOLS + only)
        .should()
        .dependOnClassesThat()
        .resideInAPackage(library)
        .check(CLASSES);
  }

  @ParameterizedTest
  @CsvSource({
    "rows, input",
    "rows, parquet",
    "rows, lake",
    "rows, serve",
    "rows, inspect",
    "rows, build",
    "input, parquet",
    "input, lake",
    "input, serve",
    "input, build",
    "lake, parquet",
    "lake, build",
    "parquet, build",
    "parquet, serve",
    "parquet, inspect",
    "serve, parquet",
    "serve, lake",
    "inspect, parquet",
    "inspect, lake",
    "text, rows",
    "cli, input",
  })
  void doesNotKnow(String one, String other) {
    noClasses()
        .that()
        .resideInAPackage(TOOLS + one + "..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage(TOOLS + other + "..")
        .check(CLASSES);
  }

  @Test
  void thatTheFormsOfRowsComeFromNoFile() {
    noClasses()
        .that()
        .resideInAPackage(TOOLS + "rows")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("java.nio.file", "java.net")
        .check(CLASSES);
  }
}
