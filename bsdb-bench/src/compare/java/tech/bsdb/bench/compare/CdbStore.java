package tech.bsdb.bench.compare;

import java.io.IOException;
import java.nio.file.Path;

/**
 * cdb, read by the C library tinycdb through {@code java.lang.foreign}. Needs Java 22, a JDK 22 at
 * compile time, and the library; otherwise building and opening fail with {@link
 * UnsupportedOperationException}, which says what is missing.
 */
record CdbStore() implements ComparedStore {
  private static final int JAVA = 22;

  @Override
  public void build(Records records, Path directory) throws IOException {
    library().build(records, directory);
  }

  @Override
  public Reader open(Path directory, String reading) throws IOException {
    return library().open(directory, reading);
  }

  /** Loads the class that is compiled for Java 22. */
  private static ComparedStore library() {
    if (Runtime.version().feature() < JAVA) {
      throw new UnsupportedOperationException("cdb needs Java " + JAVA + " or newer");
    }
    try {
      return Class.forName(CdbStore.class.getPackageName() + ".CdbLibrary")
          .asSubclass(ComparedStore.class)
          .getDeclaredConstructor()
          .newInstance();
    } catch (ReflectiveOperationException e) {
      throw new UnsupportedOperationException(
          "cdb needs a JDK " + JAVA + " or newer at compile time", e);
    } catch (LinkageError e) {
      throw new UnsupportedOperationException(
          "cdb needs libcdb.so.1 (Debian's libcdb1), or its path in LIBCDB", e);
    }
  }
}
