package tech.bsdb.tools.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

class DiagnosisTest {
  @Test
  void fileErrorsNameTheFileAndTheProblem() {
    assertMistake(new NoSuchFileException("a.txt"), "a.txt: no such file or directory");
    assertMistake(new NotDirectoryException("a.txt"), "a.txt: not a directory");
    String neither = "http://h/a is neither a bsdb database nor a store";
    assertMistake(new NotDirectoryException(neither), neither);
    assertMistake(new AccessDeniedException("a.txt"), "a.txt: permission denied");
    assertMistake(new FileAlreadyExistsException("a.txt"), "a.txt: already exists");
    assertMistake(
        new FileSystemException("a.txt", null, "Is a directory"), "a.txt: Is a directory");
    assertMistake(new FileSystemException("a.txt"), "a.txt: file system");
  }

  @Test
  void systemErrorsIncludeARemedy() {
    assertMistake(
        new IOException("No space left on device"),
        "No space left on device (free some space, or write elsewhere)");
    assertThat(Diagnosis.of(new FileSystemException("rdb/x", null, "Too many open files")).words())
        .matches("rdb/x: Too many open files \\(raise the limit with: ulimit -n [0-9]+\\)");
    assertMistake(
        new FileSystemException("rdb", null, "Read-only file system"),
        "rdb: Read-only file system (write elsewhere)");
    assertMistake(
        new FileSystemException(
            "store", null, "9 bytes are still to come, but only 5 bytes are free"),
        "store: 9 bytes are still to come, but only 5 bytes are free"
            + " (make room, or keep fewer versions)");
  }

  @Test
  void theLimitAdvisedIsHigherThanTheOneInForce() {
    assertThat(Diagnosis.moreFiles(256)).isEqualTo(4096);
    assertThat(Diagnosis.moreFiles(4095)).isEqualTo(4096);
    assertThat(Diagnosis.moreFiles(4096)).isEqualTo(16_384);
    assertThat(Diagnosis.moreFiles(20_000)).isEqualTo(65_536);
    assertThat(Diagnosis.moreFiles(Long.MAX_VALUE)).isPositive();
  }

  @Test
  void wrappersAreRemoved() {
    IOException inner = new IOException("a.txt:3: no separator");

    assertMistake(new UncheckedIOException(inner), "a.txt:3: no separator");
    assertMistake(new ExecutionException(new UncheckedIOException(inner)), "a.txt:3: no separator");
  }

  @Test
  void anExceptionWithoutAMessageIsNamed() {
    assertMistake(new EOFException(), "eof");
    assertMistake(new IOException(), "io");
  }

  @Test
  void anInvalidPathIsShown() {
    assertMistake(
        new InvalidPathException("a\0b", "Nul character not allowed"),
        "not a path: \"a\0b\" (Nul character not allowed)");
  }

  @Test
  void outOfMemorySaysHowToGiveMore() {
    assertThat(Diagnosis.of(new OutOfMemoryError("Java heap space")).words())
        .contains("not enough heap", "BSDB_JAVA_OPTS=-Xmx");
    assertThat(
            Diagnosis.of(new OutOfMemoryError("Cannot reserve 8192 bytes of direct buffer memory"))
                .words())
        .contains("direct memory", "BSDB_JAVA_OPTS=-XX:MaxDirectMemorySize");
    assertThat(Diagnosis.of(new OutOfMemoryError("unable to create native thread")).words())
        .contains("ulimit -u");
    assertThat(Diagnosis.of(new OutOfMemoryError("Map failed")).words())
        .contains("vm.max_map_count");
    assertThat(Diagnosis.of(new OutOfMemoryError()).bug()).isFalse();
  }

  @Test
  void aNativeLibraryThatCannotBeUnpackedNamesTheDirectory() {
    List<Throwable> failures =
        List.of(
            new UnsatisfiedLinkError("/tmp/x.so: failed to map segment"),
            new ExceptionInInitializerError("Cannot unpack libzstd-jni: Read-only file system"),
            new IOException(
                "compression failed",
                new ExceptionInInitializerError(
                    "Cannot unpack libzstd-jni: No space left on device")),
            new NoClassDefFoundError("Could not initialize class com.github.luben.zstd.Zstd"),
            new NoClassDefFoundError("Could not initialize class org.xerial.snappy.Snappy"));
    for (Throwable failure : failures) {
      Diagnosis diagnosis = Diagnosis.of(failure);
      assertThat(diagnosis.bug()).isFalse();
      assertThat(diagnosis.words())
          .startsWith("cannot load a native library: ")
          .contains(System.getProperty("java.io.tmpdir"), "BSDB_JAVA_OPTS=-Djava.io.tmpdir=DIR");
    }
    assertThat(Diagnosis.of(new NoClassDefFoundError("tech/bsdb/Gone")).bug()).isTrue();
  }

  @Test
  void everythingElseIsABug() {
    assertThat(Diagnosis.of(new IllegalStateException("slot 7 is empty")))
        .isEqualTo(new Diagnosis("internal error: IllegalStateException: slot 7 is empty", true));
    assertThat(Diagnosis.of(new StackOverflowError()))
        .isEqualTo(new Diagnosis("internal error: StackOverflowError", true));
  }

  private static void assertMistake(Throwable thrown, String words) {
    assertThat(Diagnosis.of(thrown)).isEqualTo(new Diagnosis(words, false));
  }
}
