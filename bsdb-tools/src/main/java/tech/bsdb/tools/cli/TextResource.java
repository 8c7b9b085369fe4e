package tech.bsdb.tools.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;

/** Text files in UTF-8 that are stored beside the classes. */
public final class TextResource {
  private TextResource() {}

  /**
   * Returns the text of a file.
   *
   * @param name its name beside a class, or its path in the jar
   * @throws IllegalArgumentException if there is none
   */
  public static String text(Class<?> beside, String name) {
    try (InputStream in = beside.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalArgumentException("no resource " + name);
      }
      return new String(in.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Returns the lines of a table that is stored beside a class, without those that begin with #.
   */
  public static List<String> lines(Class<?> beside, String name) {
    return text(beside, name)
        .lines()
        .filter(line -> !line.isEmpty() && !line.startsWith("#"))
        .toList();
  }
}
