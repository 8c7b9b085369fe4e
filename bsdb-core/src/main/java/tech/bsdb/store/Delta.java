package tech.bsdb.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The description of a delta: the changes between two versions of a store, from which a store with
 * the older one can make the newer one (docs/FORMAT.md §15). Immutable.
 *
 * <pre>
 * STORE/.deltas/VERSION/           the delta of a version: a database or set of the changed records
 * STORE/.deltas/VERSION/delta.txt  its description, written last
 * </pre>
 *
 * @param base the name of the older version
 * @param parts the databases that differ; one, unless the version is a set of shards
 */
public record Delta(String base, List<Part> parts) {
  /** The directory of a store for deltas. */
  public static final String DIRECTORY = ".deltas";

  /** The name of the file. */
  public static final String FILE = "delta.txt";

  /** The most bytes of the file: those of a set with as many shards as there can be, and more. */
  static final int MAX_BYTES = 1 << 21;

  /** The first byte of the value of a change. */
  static final byte DELETION = 0;

  static final byte VALUE = 1;

  private static final String FIRST = "bsdb delta 1";
  private static final String LAST = "end";
  private static final Pattern LINE =
      Pattern.compile("part (\\d{1,5}) ([0-9a-f]{32}) ([0-9a-f]{32})");

  /**
   * A database that differs.
   *
   * @param number the number of the shard, 0 for an undivided database
   * @param base the database id in the older version, 32 hexadecimal digits
   * @param result the database id in the newer version
   */
  public record Part(int number, String base, String result) {}

  /** Copies the list. */
  public Delta {
    String unused = VersionName.checked(base);
    parts = List.copyOf(parts);
  }

  /** The directory of a version's delta, as a path below the store. */
  public static String directory(String version) {
    return DIRECTORY + "/" + version;
  }

  /** The bytes of the file. */
  public byte[] encode() {
    StringBuilder text = new StringBuilder(FIRST + "\nbase " + base + "\n");
    for (Part part : parts) {
      text.append("part " + part.number + " " + part.base + " " + part.result + "\n");
    }
    return text.append(LAST + "\n").toString().getBytes(UTF_8);
  }

  /**
   * Decodes a file.
   *
   * @param location where it is, for messages
   * @throws IOException if it is truncated, or this version cannot read it
   */
  static Delta decode(String location, byte[] bytes) throws IOException {
    String[] lines = new String(bytes, UTF_8).split("\n", -1);
    if (!lines[0].equals(FIRST)) {
      throw new IOException(location + ": begins with \"" + lines[0] + "\", not " + FIRST);
    }
    int end = lines.length - 2; // nothing follows the last newline
    if (end < 2 || !lines[end].equals(LAST) || !lines[1].startsWith("base ")) {
      throw new IOException(location + ": is cut, or not a description of changes");
    }
    List<Part> parts = new ArrayList<>();
    for (int i = 2; i < end; i++) {
      Matcher line = LINE.matcher(lines[i]);
      if (!line.matches()) {
        throw new IOException(location + ": line " + (i + 1) + " is \"" + lines[i] + "\"");
      }
      parts.add(new Part(Integer.parseInt(line.group(1)), line.group(2), line.group(3)));
    }
    try {
      return new Delta(lines[1].substring("base ".length()), parts);
    } catch (IllegalArgumentException e) {
      throw new IOException(location + ": line 2: " + e.getMessage(), e);
    }
  }

  /** The part whose result is a database, or null. */
  @Nullable Part of(String result) {
    for (Part part : parts) {
      if (part.result.equals(result)) {
        return part;
      }
    }
    return null;
  }
}
