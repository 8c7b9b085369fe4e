package tech.bsdb.format;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Set;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UnsupportedFormatException;

/**
 * The manifest file of a database or of a set of shards: its frame, checksums, id and content
 * (FORMAT.md §6). Immutable.
 *
 * @param path the file
 * @param id the id of the database or the set
 * @param manifest the content
 * @param bytes size of the file in bytes
 */
public record ManifestFile(Path path, DatabaseId id, Manifest manifest, long bytes) {
  /** The size of the largest manifest file in bytes, which has the most data files. */
  public static final int MAX_BYTES = 4096 * Page.SIZE;

  private static final FileIdentity FILE = new FileIdentity(FileKind.MANIFEST, 0);

  private static final String FORMATS = "format " + Facts.FORMAT_1 + " or " + Facts.FORMAT_2;

  /** Encodes the file of a manifest. */
  public static byte[] encode(Manifest manifest) {
    return encode(manifest.encode());
  }

  /**
   * Encodes the file of a manifest.
   *
   * @param text the content, from which the database id is derived
   */
  public static byte[] encode(byte[] text) {
    int payloadPages = (text.length + Page.PAYLOAD - 1) / Page.PAYLOAD;
    ByteBuffer file = ByteBuffer.allocate((payloadPages + 2) * Page.SIZE).position(Page.SIZE);
    PageEncoder pages = new PageEncoder(file::put, FILE);
    try {
      pages.put(text, 0, text.length);
      pages.pad();
    } catch (IOException e) {
      throw new UncheckedIOException("memory takes every page", e);
    }
    FileFrame frame =
        new FileFrame(FILE, DatabaseId.derive(text), pages.pages() + 1, pages.digest());
    return file.put(frame.footer()).put(0, frame.header()).array();
  }

  /**
   * Decodes a manifest file, verifying every byte. The methods that read facts check the format and
   * the kind.
   *
   * @param path the file, for messages
   * @throws CorruptDatabaseException if the bytes are damaged
   * @throws UnsupportedFormatException if the format version of the file is another
   */
  public static ManifestFile decode(Path path, byte[] bytes)
      throws CorruptDatabaseException, UnsupportedFormatException {
    if (bytes.length < 3 * Page.SIZE || bytes.length % Page.SIZE != 0) {
      throw new CorruptDatabaseException(
          path,
          bytes.length,
          "whole pages of " + Page.SIZE + " bytes, at least 3",
          bytes.length + " bytes");
    }
    int pages = bytes.length / Page.SIZE;
    FileFrame frame =
        FileFrame.decode(path, FILE, page(bytes, 0), page(bytes, pages - 1), bytes.length);
    new PageCheck(path, FILE).payload(bytes, frame.digest());
    byte[] trimmed = text(bytes).getBytes(StandardCharsets.ISO_8859_1);
    if (!DatabaseId.derive(trimmed).equals(frame.databaseId())) {
      throw new CorruptDatabaseException(
          path,
          16,
          "the database id of this manifest, " + DatabaseId.derive(trimmed),
          frame.databaseId().toString());
    }
    return new ManifestFile(path, frame.databaseId(), Manifest.decode(path, trimmed), bytes.length);
  }

  /**
   * The content of a file that was decoded, as it is there: each byte is a character.
   *
   * @param bytes the whole file
   */
  static String text(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    for (int page = Page.SIZE; page < bytes.length - Page.SIZE; page += Page.SIZE) {
      text.append(new String(bytes, page, Page.PAYLOAD, StandardCharsets.ISO_8859_1));
    }
    int end = text.length();
    while (end > 0 && text.charAt(end - 1) == 0) {
      end--;
    }
    return text.substring(0, end);
  }

  private static byte[] page(byte[] bytes, int number) {
    return Arrays.copyOfRange(bytes, number * Page.SIZE, (number + 1) * Page.SIZE);
  }

  /** The names of the database's files except the manifest. */
  public Set<String> fileNames() {
    Set<String> names = new LinkedHashSet<>();
    for (Manifest.FileEntry entry : manifest.files()) {
      names.add(entry.name(id));
    }
    return names;
  }

  /** Reads facts of a manifest. */
  @FunctionalInterface
  public interface Reading<T> {
    /**
     * Reads facts.
     *
     * @throws IllegalArgumentException if one is missing or out of range
     */
    T read() throws IOException;
  }

  /**
   * Reads facts of a manifest whose format is known.
   *
   * @throws CorruptDatabaseException if one is missing or out of range
   * @throws UnsupportedFormatException if this version does not read the format
   */
  public <T> T facts(Reading<T> reading) throws IOException {
    try {
      long format = Facts.format(manifest);
      if (format != Facts.FORMAT_1 && format != Facts.FORMAT_2) {
        throw new UnsupportedFormatException(path, "format " + format, FORMATS);
      }
      if (format != Facts.FORMAT_1 && ShardSet.isSet(manifest)) {
        throw new UnsupportedFormatException(
            path, "a set of shards of format " + format, "sets of format " + Facts.FORMAT_1);
      }
      return reading.read();
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new CorruptDatabaseException(
          path, Page.SIZE, "a manifest of " + FORMATS, String.valueOf(e.getMessage()));
    }
  }

  /** Whether it is the manifest of a set of shards. */
  public boolean isSet() throws IOException {
    return facts(() -> ShardSet.isSet(manifest));
  }

  /** The facts of the set. */
  public ShardSet set() throws IOException {
    return facts(
        () -> {
          Facts.requireRouting(path, manifest);
          return ShardSet.of(manifest);
        });
  }
}
