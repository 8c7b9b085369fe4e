package tech.bsdb;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The arrows between the packages, as docs/ARCHITECTURE.md draws them. */
class ArchitectureTest {
  private static final JavaClasses CORE = beside(Database.class);

  private static final String[] JDK = {"java..", "org.jspecify.annotations.."};

  /** The public types without behavior, which every package may use but those of the JDK alone. */
  private static final Set<Class<?>> VOCABULARY =
      Set.of(
          BuildListener.Stage.class,
          BuildOptions.class,
          ChangeCounts.class,
          Database.RecordCursor.class,
          Database.VerifyListener.class,
          DiffListener.class,
          DiffListener.Difference.class,
          DiffOptions.class,
          DiffOptions.Detail.class,
          DiffReport.class,
          DuplicatePolicy.class,
          HashAlgorithm.class,
          KeyRange.class,
          Layout.class,
          MemoryUse.class,
          SignatureAlgorithm.class,
          Statistics.class,
          ValueElements.class,
          VerifyReport.class,
          VerifyScope.class);

  private static final DescribedPredicate<JavaClass> IN_VOCABULARY =
      DescribedPredicate.describe(
          "public types without behavior",
          type -> VOCABULARY.stream().anyMatch(word -> type.getName().equals(word.getName())));

  private static final DescribedPredicate<JavaClass> PUBLIC_VERBS =
      resideInAPackage("tech.bsdb").and(DescribedPredicate.not(IN_VOCABULARY));

  /** The classes that lie where that one does, but for those of the overlay. */
  private static JavaClasses beside(Class<?> one) {
    try {
      Path place = Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI());
      return new ClassFileImporter()
          .withImportOption(location -> !location.contains("/META-INF/versions/"))
          .importPath(place);
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void formatUsesTheJdkAndOpensNoFile() {
    onlyUses("tech.bsdb.format..", "java..", "org.jspecify.annotations..", "tech.bsdb.error..");
    noClasses()
        .that()
        .resideInAPackage("tech.bsdb.format..")
        .should()
        .dependOnClassesThat()
        .haveFullyQualifiedName("java.nio.file.Files")
        .orShould()
        .dependOnClassesThat()
        .resideInAPackage("java.nio.channels..")
        .orShould()
        .dependOnClassesThat()
        .haveNameMatching(
            "java\\.io\\.(File|.*(Input|Output)Stream|RandomAccessFile|.*Reader|.*Writer)")
        .check(CORE);
  }

  @Test
  void ioKnowsNoOtherPackage() {
    onlyUses("tech.bsdb.io..", JDK);
  }

  @Test
  void hashIndexAndDataDoNotKnowEachOther() {
    onlyUses(
        "tech.bsdb.hash..",
        "java..",
        "org.jspecify.annotations..",
        "tech.bsdb.error..",
        "tech.bsdb.format..",
        "tech.bsdb.io..",
        "it.unimi.dsi..");
    onlyUses(
        "tech.bsdb.index..",
        "java..",
        "org.jspecify.annotations..",
        "tech.bsdb.error..",
        "tech.bsdb.format..",
        "tech.bsdb.io..");
    onlyUses(
        "tech.bsdb.data..",
        "java..",
        "org.jspecify.annotations..",
        "tech.bsdb.error..",
        "tech.bsdb.format..",
        "tech.bsdb.io..",
        "com.github.luben.zstd..");
  }

  @Test
  void theOrderKnowsNoRecords() {
    onlyUses(
        "tech.bsdb.order..",
        "java..",
        "org.jspecify.annotations..",
        "tech.bsdb.error..",
        "tech.bsdb.format..",
        "tech.bsdb.io..");
  }

  @Test
  void readingKnowsNothingOfBuilding() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "tech.bsdb.read..", "tech.bsdb.check..", "tech.bsdb.lookup..", "tech.bsdb.directory..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("tech.bsdb.write..", "it.unimi..")
        .orShould()
        .dependOnClassesThat(PUBLIC_VERBS)
        .check(CORE);
  }

  @Test
  void lookupsKnowWhatTheyReadAndOnlyWhatLocatesKnowsTheIndex() {
    onlyUses(
        "tech.bsdb.lookup..",
        "java..",
        "org.jspecify.annotations..",
        "org.slf4j..",
        "tech.bsdb.error..",
        "tech.bsdb.format..",
        "tech.bsdb.io..",
        "tech.bsdb.hash..",
        "tech.bsdb.index..",
        "tech.bsdb.data..",
        "tech.bsdb.order..",
        "tech.bsdb.directory..");
    noClasses()
        .that()
        .resideInAPackage("tech.bsdb.lookup..")
        .and()
        .haveNameNotMatching(".*(Locator|OpenPart|Get|PackedSource|SignatureCursor)(\\$.*)?")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("tech.bsdb.index..")
        .check(CORE);
  }

  @Test
  void directoriesKnowNoLookup() {
    onlyUses(
        "tech.bsdb.directory..",
        "java..",
        "org.jspecify.annotations..",
        "org.slf4j..",
        "tech.bsdb.error..",
        "tech.bsdb.format..",
        "tech.bsdb.io..",
        "tech.bsdb.hash..",
        "tech.bsdb.data..");
  }

  @Test
  void embeddedReadersKnowTheLookupPathAlone() {
    onlyUses(
        "tech.bsdb.read..",
        "java..",
        "org.jspecify.annotations..",
        "tech.bsdb.error..",
        "tech.bsdb.directory..",
        "tech.bsdb.lookup..");
  }

  @Test
  void transfersKnowDirectoriesAndNoReader() {
    onlyUses(
        "tech.bsdb.transfer..",
        "java..",
        "org.jspecify.annotations..",
        "tech.bsdb.error..",
        "tech.bsdb.format..",
        "tech.bsdb.io..",
        "tech.bsdb.directory..");
  }

  @Test
  void remoteOriginsKnowTransfersAlone() {
    onlyUses(
        "tech.bsdb.remote..",
        "java..",
        "javax.net.ssl..",
        "org.jspecify.annotations..",
        "tech.bsdb.transfer..");
  }

  @Test
  void mirrorsKnowOriginsAndDirectoriesAndNoLookup() {
    onlyUses(
        "tech.bsdb.mirror..",
        "java..",
        "org.jspecify.annotations..",
        "org.slf4j..",
        "tech.bsdb.error..",
        "tech.bsdb.format..",
        "tech.bsdb.io..",
        "tech.bsdb.directory..",
        "tech.bsdb.transfer..",
        "tech.bsdb.remote..");
  }

  @Test
  void checksKnowTheLookupPathAndTasks() {
    onlyUses(
        "tech.bsdb.check..",
        "java..",
        "org.jspecify.annotations..",
        "tech.bsdb.error..",
        "tech.bsdb.format..",
        "tech.bsdb.io..",
        "tech.bsdb.hash..",
        "tech.bsdb.index..",
        "tech.bsdb.data..",
        "tech.bsdb.order..",
        "tech.bsdb.directory..",
        "tech.bsdb.lookup..");
  }

  @Test
  void errorsUseTheJdkOnly() {
    onlyUses("tech.bsdb.error..", JDK);
  }

  @Test
  void buildingKnowsReadingOnlyToMergeAndToLookForLostKeys() {
    onlyUses(
        "tech.bsdb.write..",
        "java..",
        "org.jspecify.annotations..",
        "tech.bsdb.error..",
        "tech.bsdb.format..",
        "tech.bsdb.io..",
        "tech.bsdb.hash..",
        "tech.bsdb.index..",
        "tech.bsdb.data..",
        "tech.bsdb.order..",
        "tech.bsdb.directory..",
        "tech.bsdb.lookup..");
    noClasses()
        .that()
        .resideInAPackage("tech.bsdb.write..")
        .and()
        .haveNameNotMatching(
            ".*\\.(DatabaseWriter|Merge(Base|Count|Writer|d(Keys|Size))|PackedMerge)(\\$.*)?")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("tech.bsdb.directory..", "tech.bsdb.lookup..")
        .check(CORE);
  }

  @Test
  void nothingBelowKnowsThePublicVerbs() {
    noClasses()
        .that(resideInAnyPackage("tech.bsdb.*..").and(resideOutsideOfPackages("tech.bsdb.store..")))
        .should()
        .dependOnClassesThat(PUBLIC_VERBS)
        .check(CORE);
    noClasses()
        .that()
        .resideInAPackage("tech.bsdb.error..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("tech.bsdb")
        .check(CORE);
  }

  @Test
  void storesKnowThePublicVerbsThePageCacheAndMirrorsAndNobodyKnowsThem() {
    onlyUses(
        "tech.bsdb.store..",
        "java..",
        "org.jspecify.annotations..",
        "org.slf4j..",
        "tech.bsdb.error..",
        "tech.bsdb.io..",
        "tech.bsdb.transfer..",
        "tech.bsdb.remote..",
        "tech.bsdb.mirror..",
        "tech.bsdb");
    noClasses()
        .that()
        .resideOutsideOfPackage("tech.bsdb.store..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("tech.bsdb.store..")
        .check(CORE);
  }

  @Test
  void sux4jIsTheSolversAlone() {
    noClasses()
        .that()
        .resideOutsideOfPackage("tech.bsdb.hash..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("it.unimi..")
        .check(CORE);
    noClasses()
        .that(resideOutsideOfPackages("tech.bsdb.data.."))
        .should()
        .dependOnClassesThat()
        .resideInAPackage("com.github.luben..")
        .check(CORE);
  }

  @Test
  void noPackagesInARing() {
    slices().matching("tech.bsdb.(*)..").should().beFreeOfCycles().check(CORE);
  }

  @Test
  void nothingIsDeserialised() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .haveNameMatching(
            "java\\.io\\.(ObjectInput|ObjectOutput|ObjectInputStream|ObjectOutputStream|Externalizable)")
        .check(CORE);
    DescribedPredicate<JavaClass> neitherExceptionNorEnum =
        DescribedPredicate.describe(
            "neither exceptions nor enums",
            type -> !type.isAssignableTo(Throwable.class) && !type.isEnum());
    noClasses()
        .that(neitherExceptionNorEnum)
        .should()
        .beAssignableTo(java.io.Serializable.class)
        .check(CORE);
  }

  @Test
  void nobodyPrintsOrExits() {
    noClasses()
        .should()
        .accessField(System.class, "out")
        .orShould()
        .accessField(System.class, "err")
        .orShould()
        .callMethod(System.class, "exit", int.class)
        .orShould()
        .callMethod(Runtime.class, "halt", int.class)
        .orShould()
        .callMethod(Throwable.class, "printStackTrace")
        .check(CORE);
  }

  @Test
  void namesSayWhatAClassIs() {
    noClasses()
        .should()
        .haveSimpleNameEndingWith("Impl")
        .orShould()
        .haveSimpleNameEndingWith("Util")
        .orShould()
        .haveSimpleNameEndingWith("Utils")
        .orShould()
        .haveSimpleNameEndingWith("Helper")
        .orShould()
        .haveSimpleNameStartingWith("Base")
        .orShould()
        .haveSimpleNameStartingWith("Simple")
        .check(CORE);
  }

  private static void onlyUses(String from, String... allowed) {
    classes()
        .that()
        .resideInAPackage(from)
        .should()
        .onlyDependOnClassesThat(
            resideInAnyPackage(allowed)
                .or(resideInAnyPackage(from))
                .or(IN_VOCABULARY)
                .or(
                    DescribedPredicate.describe(
                        "primitives and arrays", ArchitectureTest::primitive)))
        .check(CORE);
  }

  private static boolean primitive(JavaClass type) {
    return type.getBaseComponentType().isPrimitive()
        || (type.isArray() && type.getBaseComponentType().getName().startsWith("java."));
  }
}
