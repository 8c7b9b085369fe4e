package tech.bsdb.tools.input;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.ArgumentText;
import tech.bsdb.tools.cli.Console;

/**
 * Writes bad lines to a file: {@code FILE:LINE: reason: text}. They are collected in a hidden file
 * beside it, which {@link #publish} renames and {@link #discard} removes; an older file stays until
 * then. A device or a pipe is written directly; {@code /dev/stdout} and {@code /dev/stderr} are
 * this process's own streams, whatever they point to. Control characters of names are escaped, and
 * on a terminal those of the text.
 */
public final class Rejects implements Closeable {
  private static final byte[] DATABASE_FILE = "BSDBFILE".getBytes(US_ASCII);

  private static final Map<String, FileDescriptor> STREAMS =
      Map.of(
          "/dev/stdout", FileDescriptor.out,
          "/dev/fd/1", FileDescriptor.out,
          "/proc/self/fd/1", FileDescriptor.out,
          "/dev/stderr", FileDescriptor.err,
          "/dev/fd/2", FileDescriptor.err,
          "/proc/self/fd/2", FileDescriptor.err);

  private final Path path;
  private final @Nullable Path temporary;
  private final OutputStream out;
  private final boolean transcoded;
  private final boolean terminal;

  private Rejects(Path path, boolean transcoded) throws IOException {
    this.path = path;
    this.transcoded = transcoded;
    boolean inPlace = isStream(path);
    try {
      this.terminal = inPlace && isTerminal(path);
      this.temporary = inPlace ? null : temporaryBeside(path);
      Path written = temporary == null ? path : temporary;
      FileDescriptor standard = STREAMS.get(path.toString());
      OutputStream opened =
          standard == null ? Files.newOutputStream(written) : new StandardStream(standard);
      this.out = new BufferedOutputStream(opened, 1 << 16);
    } catch (IOException failure) {
      throw InputException.reading(path.toString(), failure);
    }
  }

  private static Path temporaryBeside(Path path) throws IOException {
    Path parent = path.toAbsolutePath().getParent();
    String name = "." + path.getFileName() + ".bsdb-rejects-" + ProcessHandle.current().pid();
    return Files.createFile(parent == null ? Path.of(name) : parent.resolve(name));
  }

  private static boolean isTerminal(Path path) {
    try {
      return Console.isTerminal(path.toRealPath().toString());
    } catch (IOException pipe) { // its link leads to no path
      return false;
    }
  }

  /**
   * Whether writing there replaces nothing: it is a pipe, a device, or a stream of this process.
   */
  public static boolean isStream(Path path) {
    return STREAMS.containsKey(path.toString())
        || (Files.exists(path) && !Files.isRegularFile(path));
  }

  /**
   * Opens a file.
   *
   * @param transcoded whether the bad lines were in an encoding other than UTF-8
   */
  public static Rejects open(Path path, boolean transcoded) throws IOException {
    return new Rejects(path, transcoded);
  }

  /**
   * Checks that the file can be created and is not one of the inputs.
   *
   * @throws InputException if not
   */
  public static void check(Path path, Iterable<Path> inputs) throws IOException {
    if (path.toString().isEmpty() || path.toString().equals("-")) {
      throw new InputException("\"" + path + "\": bad lines need a file");
    }
    if (Files.isDirectory(path)) {
      throw new InputException(path + ": is a directory, and bad lines need a file");
    }
    Path parent = path.toAbsolutePath().getParent();
    if (parent != null && !Files.isDirectory(parent)) {
      throw new InputException(path + ": no such directory for bad lines: " + parent);
    }
    if (!Files.isWritable(Files.exists(path) || parent == null ? path : parent)) {
      throw new InputException(path + ": permission denied for bad lines");
    }
    if (STREAMS.containsKey(path.toString()) && !Files.exists(path)) {
      throw new InputException(path + ": is closed and cannot take the bad lines");
    }
    for (Path input : inputs) {
      if (Files.exists(path) && Files.isSameFile(path, input)) {
        throw new InputException(path + ": is an input and cannot take the bad lines");
      }
    }
    if (Files.isRegularFile(path) && Files.isReadable(path) && isOfDatabase(path)) {
      throw new InputException(path + ": is a file of a database and cannot take the bad lines");
    }
  }

  /** Whether a file begins like every file of a database. */
  static boolean isOfDatabase(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return Arrays.equals(in.readNBytes(DATABASE_FILE.length), DATABASE_FILE);
    }
  }

  /** Writes a bad record that has no text to show. */
  public void write(String place, String reason) throws IOException {
    try {
      out.write((ArgumentText.shown(place + ": " + reason) + '\n').getBytes(UTF_8));
    } catch (IOException failure) {
      throw InputException.reading(path.toString(), failure);
    }
  }

  /** Writes a bad record with its text. */
  public void write(String place, String reason, byte[] bytes, int from, int to)
      throws IOException {
    try {
      out.write(ArgumentText.shown(place + ": " + reason + ": ").getBytes(UTF_8));
      byte[] text =
          transcoded ? Transcoder.restore(bytes, from, to) : Arrays.copyOfRange(bytes, from, to);
      out.write(terminal ? ArgumentText.shown(ArgumentText.of(text)).getBytes(UTF_8) : text);
      out.write('\n');
    } catch (IOException failure) {
      throw InputException.reading(path.toString(), failure);
    }
  }

  /** Gives the closed file its final name. */
  public void publish() throws IOException {
    if (temporary != null) {
      Path target = Files.exists(path) ? path.toRealPath() : path; // a link stays a link
      try {
        Files.move(temporary, target, StandardCopyOption.REPLACE_EXISTING);
      } catch (IOException failure) {
        throw InputException.reading(path.toString(), failure);
      }
    }
  }

  /** Removes the file unless {@link #publish} has renamed it. */
  public void discard() {
    if (temporary != null) {
      try {
        Files.deleteIfExists(temporary);
      } catch (IOException leftThere) {
        // what ended the reading matters more
      }
    }
  }

  @Override
  public void close() throws IOException {
    try {
      out.close();
    } catch (IOException failure) {
      throw InputException.reading(path.toString(), failure);
    }
  }

  /** A stream of the process, which stays open. */
  private static final class StandardStream extends FileOutputStream {
    StandardStream(FileDescriptor descriptor) {
      super(descriptor);
    }

    @Override
    public void close() {
      // belongs to the process
    }
  }
}
