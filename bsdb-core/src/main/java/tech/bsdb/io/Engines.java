package tech.bsdb.io;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The engines by name, and whether this machine supports them. */
public final class Engines {
  /** The valid engine names: mapped, buffered, direct, io_uring, memory. */
  public static final List<String> NAMES =
      List.of("mapped", "buffered", "direct", "io_uring", "memory");

  private Engines() {}

  /**
   * Returns the engine of that name. Its availability shows only when it is used.
   *
   * @throws IllegalArgumentException if there is no such engine
   */
  public static Engine named(String name) {
    return switch (name) {
      case "mapped" -> new MappedEngine();
      case "buffered" -> new BufferedEngine();
      case "direct" -> new DirectEngine();
      case "io_uring" -> new UringEngine();
      case "memory" -> new LoadedEngine();
      default -> throw new IllegalArgumentException("no engine is called " + name);
    };
  }

  /**
   * Returns an engine for the files of a directory.
   *
   * @throws IOException if the engine is not available there, with the reason
   */
  public static Engine require(String name, Path directory) throws IOException {
    String reason = unavailable(name, directory);
    if (reason != null) {
      throw new IOException(
          "the engine " + name + " is not available for " + directory + ": " + reason);
    }
    return named(name);
  }

  /**
   * Says why an engine is not available.
   *
   * @param name its name
   * @param directory the directory of the files to read; null to ask about the machine alone, whose
   *     file systems may differ
   * @return the reason, or null if it is available
   * @throws IllegalArgumentException if there is no such engine
   */
  public static @Nullable String unavailable(String name, @Nullable Path directory) {
    Engine engine = named(name);
    String reason = null;
    if (engine instanceof UringEngine uring) {
      reason = uring.unavailable();
    }
    if (reason == null && engine.verifiesEveryRead() && directory != null) {
      reason = directRefused(directory);
    }
    return reason;
  }

  private static @Nullable String directRefused(Path directory) {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, Files::isRegularFile)) {
      for (Path file : files) {
        try {
          return new DirectEngine().unavailable(file);
        } catch (IOException e) {
          if (Files.exists(file)) {
            throw e;
          } // deleted since it was listed: try the next one
        }
      }
      return null; // no file to test
    } catch (IOException e) {
      return "cannot test a file for direct I/O: " + e;
    }
  }
}
