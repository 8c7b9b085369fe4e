package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.Location;
import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What the module exports: nothing that is not public API, and all of that documented. */
class PublicApiTest {
  /** Maven runs the tests of a module in its directory. */
  private static final Path CLASSES = Path.of("target/classes");

  private static final Set<String> EXPORTED = exported();

  /** A type in a table of the README. */
  private static final Pattern NAME = Pattern.compile("`(\\w+)`");

  private static final JavaClasses CORE =
      new ClassFileImporter()
          .withImportOption((Location location) -> !location.contains("/META-INF/versions/"))
          .importPath(CLASSES);

  private static Set<String> exported() {
    Path descriptor = CLASSES.resolve("META-INF/versions/17/module-info.class");
    try (InputStream in = Files.newInputStream(descriptor)) {
      return ModuleDescriptor.read(in).exports().stream()
          .filter(export -> !export.isQualified())
          .map(ModuleDescriptor.Exports::source)
          .collect(Collectors.toSet());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static List<JavaClass> publicTypes() {
    return CORE.stream()
        .filter(type -> EXPORTED.contains(type.getPackageName()))
        .filter(PublicApiTest::isPublic)
        .toList();
  }

  private static boolean isPublic(JavaClass type) {
    return type.getModifiers().contains(JavaModifier.PUBLIC)
        && type.getEnclosingClass().map(PublicApiTest::isPublic).orElse(true);
  }

  @Test
  void theModuleExportsItsPublicPackages() {
    assertThat(EXPORTED)
        .containsExactlyInAnyOrder(
            "tech.bsdb",
            "tech.bsdb.error",
            "tech.bsdb.read",
            "tech.bsdb.remote",
            "tech.bsdb.store",
            "tech.bsdb.transfer");
  }

  @Test
  void publicTypesShowNothingInternal() {
    Set<String> leaks = new HashSet<>();
    for (JavaClass type : publicTypes()) {
      Set<JavaClass> shown = new HashSet<>(type.getAllRawInterfaces());
      type.getRawSuperclass().ifPresent(shown::add);
      for (JavaMember member : type.getMembers()) {
        if (member.getModifiers().contains(JavaModifier.PUBLIC)
            || member.getModifiers().contains(JavaModifier.PROTECTED)) {
          shown.addAll(shownBy(member));
        }
      }
      for (JavaClass seen : shown) {
        JavaClass base = seen.getBaseComponentType();
        boolean ours = base.getPackageName().startsWith("tech.bsdb");
        if (ours && !(EXPORTED.contains(base.getPackageName()) && isPublic(base))) {
          leaks.add(type.getName() + " shows " + base.getName());
        }
      }
    }
    assertThat(leaks).isEmpty();
  }

  private static Set<JavaClass> shownBy(JavaMember member) {
    Set<JavaClass> shown = new HashSet<>();
    if (member instanceof JavaField field) {
      shown.addAll(field.getType().getAllInvolvedRawTypes());
    }
    if (member instanceof JavaCodeUnit code) {
      shown.addAll(code.getReturnType().getAllInvolvedRawTypes());
      code.getParameterTypes().forEach(type -> shown.addAll(type.getAllInvolvedRawTypes()));
      shown.addAll(code.getExceptionTypes());
    }
    return shown;
  }

  @Test
  void optionsAndFiguresHaveNoPublicConstructorUnlessTheyAreRecords() {
    for (JavaClass type : publicTypes()) {
      boolean figures = type.getSimpleName().matches(".*(Options|Statistics|Report|Counters)");
      if (figures && !type.isRecord()) {
        assertThat(type.getConstructors())
            .as(type.getName())
            .noneMatch(constructor -> constructor.getModifiers().contains(JavaModifier.PUBLIC));
      }
    }
  }

  @Test
  void theReadmeNamesAllPublicTypesAndNoOthers() throws IOException {
    Set<String> types =
        publicTypes().stream()
            .filter(type -> type.getEnclosingClass().isEmpty())
            .map(JavaClass::getSimpleName)
            .filter(name -> !name.equals("package-info"))
            .collect(Collectors.toCollection(TreeSet::new));
    for (String page : List.of("../README.md", "../README_CN.md")) {
      Set<String> named = new TreeSet<>();
      Files.readString(Path.of(page))
          .lines()
          .filter(line -> line.startsWith("| `tech.bsdb"))
          .map(line -> line.substring(line.indexOf('|', 1)))
          .forEach(
              cells -> NAME.matcher(cells).results().forEach(name -> named.add(name.group(1))));
      assertThat(named).as(page).isEqualTo(types);
    }
  }
}
