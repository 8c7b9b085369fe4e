package tech.bsdb.tools;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which packages know which, and which of them know the large libraries. */
class ArrowsTest {
  private static final String TOOLS = "tech.bsdb.tools";

  /**
   * Each package, and those that its classes may know. A package may know only those above it, so
   * that there are no cycles. The commands themselves, in the package above all, may know every one
   * of them.
   */
  private static final String ARROWS =
      """
      text:
      cli: text
      rows: cli text
      input: cli rows text
      source: cli input
      where: rows
      table: input rows source text where
      avro: input rows source table
      parquet: input source rows table text where
      inspect: cli input rows source text
      publish: cli input inspect source
      make: cli input inspect parquet publish rows source table text where
      serve.batch: text
      serve.client: cli
      serve.dataset: cli inspect rows serve.client
      serve.cluster: cli
      serve.telemetry:
      serve.resp: cli rows serve.client serve.cluster serve.dataset text
      serve: cli inspect publish rows serve.batch serve.client serve.cluster serve.dataset serve.resp serve.telemetry text
      """;

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages(TOOLS);

  private static Map<String, Set<String>> arrows() {
    Map<String, Set<String>> arrows = new LinkedHashMap<>();
    for (String line : ARROWS.lines().toList()) {
      String[] sides = line.split(":", -1);
      Set<String> known = new TreeSet<>(List.of(sides[1].strip().split(" ", -1)));
      known.remove("");
      assertThat(arrows.keySet()).as("above " + sides[0]).containsAll(known);
      arrows.put(sides[0], known);
    }
    return arrows;
  }

  /** The package below {@link #TOOLS}; empty for that itself, null outside of it. */
  private static @Nullable String packageOf(JavaClass type) {
    String name = type.getBaseComponentType().getPackageName();
    return name.equals(TOOLS)
        ? ""
        : name.startsWith(TOOLS + ".") ? name.substring(TOOLS.length() + 1) : null;
  }

  @Test
  void everyPackageKnowsThoseThatAreStatedAndNoOthers() {
    Map<String, Set<String>> arrows = arrows();
    Map<String, Set<String>> found = new LinkedHashMap<>();
    for (JavaClass type : CLASSES) {
      String from = packageOf(type);
      if (from == null || from.isEmpty()) {
        continue;
      }
      assertThat(arrows).as("the packages that have arrows").containsKey(from);
      for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
        String to = packageOf(dependency.getTargetClass());
        if (to != null && !to.equals(from)) {
          assertThat(arrows.get(from)).as(dependency.getDescription()).contains(to);
          found.computeIfAbsent(from, none -> new TreeSet<>()).add(to);
        }
      }
    }
    arrows.values().removeIf(Set::isEmpty);
    assertThat(found).as("arrows that are stated and exist").isEqualTo(arrows);
  }

  @ParameterizedTest
  @CsvSource({
    "org.apache.hadoop.., source",
    "org.apache.parquet.., source parquet",
    "org.apache.parquet.column.., parquet",
    "org.apache.parquet.schema.., parquet",
    "org.apache.avro.., avro rows",
    "com.fasterxml.jackson.., cli input rows serve.cluster",
    "org.apache.commons.cli.., cli",
    "io.netty.., serve serve.client serve.resp",
    "io.prometheus.., serve serve.client serve.telemetry",
    "io.opentelemetry.., serve.telemetry",
    "javax.security.auth.., source serve.client",
  })
  void onlyThesePackagesKnow(String library, String packages) {
    String[] those =
        Set.of(packages.split(" ")).stream().map(name -> TOOLS + "." + name).toArray(String[]::new);
    noClasses()
        .that()
        .resideOutsideOfPackages(those)
        .should()
        .dependOnClassesThat()
        .resideInAPackage(library)
        .check(CLASSES);
    Set<String> users =
        CLASSES.stream()
            .filter(
                type ->
                    type.getDirectDependenciesFromSelf().stream()
                        .anyMatch(
                            dependency ->
                                (dependency.getTargetClass().getPackageName() + ".")
                                    .startsWith(library.replace("..", "."))))
            .map(ArrowsTest::packageOf)
            .collect(Collectors.toSet());
    assertThat(users).as("users of " + library).containsExactlyInAnyOrder(packages.split(" "));
  }

  @Test
  void ofTheCoreOnlyWhatItExportsIsUsed() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "tech.bsdb.write..",
            "tech.bsdb.data..",
            "tech.bsdb.format..",
            "tech.bsdb.hash..",
            "tech.bsdb.index..",
            "tech.bsdb.io..",
            "tech.bsdb.lookup..")
        .check(CLASSES);
  }

  @Test
  void thatTheFormsOfRowsComeFromNoFile() {
    noClasses()
        .that()
        .resideInAPackage(TOOLS + ".rows")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("java.nio.file", "java.net")
        .check(CLASSES);
  }
}
