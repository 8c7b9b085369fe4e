package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UnsupportedFormatException;

/**
 * A database to which damage is done, and the check of what follows: a right answer, or an error
 * that names the damaged file, and nothing else.
 */
final class Specimen {
  private final Path directory;
  private final Truth truth;
  private final boolean scan;

  Specimen(Path directory, Truth truth, boolean scan) {
    this.directory = directory;
    this.truth = truth;
    this.scan = scan;
  }

  Path directory() {
    return directory;
  }

  /** Flips one bit; a second time restores it. */
  static void flip(Path file, long bit) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      channel.read(one, bit >>> 3);
      one.put(0, (byte) (one.get(0) ^ 1 << (bit & 7))).flip();
      channel.write(one, bit >>> 3);
    }
  }

  /** Writes bytes over those of a file. */
  static void write(Path file, long position, byte[] bytes) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(bytes), position);
    }
  }

  /** Checks the answers by one engine; true if the damage was noticed. */
  boolean read(OpenOptions.Engine engine, Path damaged) {
    try (Database database = Database.open(directory, OpenOptions.defaults().withEngine(engine))) {
      truth.checkGets(database);
      truth.checkOrder(database);
    } catch (IOException e) {
      named(e, damaged);
      return true;
    }
    return false;
  }

  /** Checks a scan by one engine; true if the damage was noticed. */
  boolean scan(Path damaged) {
    if (!scan) {
      return false;
    }
    try (Database database =
        Database.open(directory, OpenOptions.defaults().withEngine(OpenOptions.Engine.BUFFERED))) {
      truth.checkScan(database);
    } catch (IOException e) {
      named(e, damaged);
      return true;
    }
    return false;
  }

  /** Verifies; true if the damage was noticed. */
  boolean verify(Path damaged) {
    try {
      Database.verify(directory, (done, total) -> {});
    } catch (IOException e) {
      named(e, damaged);
      return true;
    }
    return false;
  }

  /** Checks everything, and that verification finds the damage. */
  void check(Path damaged, String what) {
    try {
      boolean found = read(OpenOptions.Engine.MAPPED, damaged);
      found |= read(OpenOptions.Engine.BUFFERED, damaged);
      found |= scan(damaged);
      String name = damaged.getFileName().toString();
      boolean loaded = !name.startsWith("filter-"); // it is loaded where lookups need it
      OpenOptions.Engine loads = loaded ? OpenOptions.Engine.MEMORY : OpenOptions.Engine.BUFFERED;
      if (!read(loads, damaged)) {
        fail("it was loaded all the same");
      }
      if (!verify(damaged)) {
        fail("verify did not find it" + (found ? ", though reading did" : ""));
      }
    } catch (RuntimeException | Error e) {
      throw new AssertionError(what + " in " + damaged + ": " + e, e);
    }
  }

  /** Fails unless it is one of the errors that users are told of, and names the file. */
  private void named(IOException e, Path damaged) {
    if (e instanceof CorruptDatabaseException corrupt) {
      assertThat(corrupt.file()).isEqualTo(damaged);
      assertThat(corrupt.offset()).isNotNegative();
      assertThat(corrupt).hasMessageContaining(damaged.toString());
    } else if (e instanceof UnsupportedFormatException
        || e instanceof NoSuchFileException
        || e instanceof NotDirectoryException) {
      assertThat(e).hasMessageContaining(damaged.getFileName().toString());
    } else if (e instanceof FileSystemException && Files.isDirectory(damaged)) {
      assertThat(e).hasMessageContaining(damaged.getFileName().toString());
    } else {
      throw new AssertionError("not an error for users: " + e, e);
    }
  }
}
