package tech.bsdb.format;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Set;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UnsupportedFormatException;

/**
 * The whole manifest file: frame, checksums, database id and content (FORMAT.md §6).
 *
 * @param id the database id
 * @param manifest the content
 */
public record ManifestFile(DatabaseId id, Manifest manifest) {
  private static final FileIdentity FILE = new FileIdentity(FileKind.MANIFEST, 0);

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
   * Decodes a manifest file, verifying every byte.
   *
   * @param path the file, for messages
   * @throws CorruptDatabaseException if the bytes are damaged
   * @throws UnsupportedFormatException if the format version is another
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
    byte[] text = new PageCheck(path, FILE).payload(bytes, frame.digest());
    int end = text.length;
    while (end > 0 && text[end - 1] == 0) {
      end--;
    }
    byte[] trimmed = Arrays.copyOf(text, end);
    if (!DatabaseId.derive(trimmed).equals(frame.databaseId())) {
      throw new CorruptDatabaseException(
          path,
          16,
          "the database id of this manifest, " + DatabaseId.derive(trimmed),
          frame.databaseId().toString());
    }
    return new ManifestFile(frame.databaseId(), Manifest.decode(path, trimmed));
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
}
