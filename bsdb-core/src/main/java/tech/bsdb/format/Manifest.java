package tech.bsdb.format;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UnsupportedFormatException;

/**
 * The description of a database, as lines of {@code name=value} (FORMAT.md §6): what it contains,
 * how to read its bytes, and which files belong to it. Immutable.
 */
public final class Manifest {
  /** The name of the manifest's file in every database. */
  public static final String FILE_NAME = "manifest.bsdb";

  /**
   * One file of the database.
   *
   * @param file its kind and number
   * @param pages its length in pages
   * @param digest the digest that its footer repeats
   * @param end the byte offset just past its last payload byte
   * @param sha256 its {@link ContentHash}; null in databases of older writers
   */
  public record FileEntry(
      FileIdentity file, long pages, long digest, long end, @Nullable String sha256) {
    /** Its name in the directory of the database with the given id. */
    public String name(DatabaseId id) {
      String number =
          file.kind() == FileKind.DATA ? String.format(Locale.ROOT, "-%03d", file.number()) : "";
      return file.kind().label() + number + "-" + id.shortName() + ".bsdb";
    }

    private FileEntry with(String hash) {
      return new FileEntry(file, pages, digest, end, hash);
    }

    /** Payload bytes between header and footer, excluding padding at the end. */
    public long payloadBytes() {
      return ((end >>> Page.SHIFT) - 1) * Page.PAYLOAD + (end & Page.SIZE - 1);
    }

    /** Its length in bytes. */
    public long length() {
      return pages << Page.SHIFT;
    }
  }

  private static final Pattern FILE_NAMES =
      Pattern.compile(
          "manifest\\.bsdb|(data-[0-9]{3}|dictionary|filter|hash|index|order)-[0-9a-f]{8}\\.bsdb");

  private static final String CONTENT_HASH = "file.sha256=";

  private static final Pattern SHARD_NAMES = Pattern.compile("shard-[0-9]{5}-[0-9a-f]{8}");

  private final Map<String, String> values;
  private final List<FileEntry> files;
  private final List<ShardSet.Shard> shards;

  private Manifest(Map<String, String> values, List<FileEntry> files, List<ShardSet.Shard> shards) {
    this.values = values;
    this.files = List.copyOf(files);
    this.shards = List.copyOf(shards);
  }

  /** Whether the name is one that the directory of a shard can have. */
  public static boolean isShardDirectory(String name) {
    return SHARD_NAMES.matcher(name).matches();
  }

  /** The first part of the name of a shard's directory. */
  public static String shardDirectory(int number) {
    return String.format(Locale.ROOT, "shard-%05d", number);
  }

  /** Whether the name is one that a file of a database can have. */
  public static boolean isFileName(String name) {
    return FILE_NAMES.matcher(name).matches();
  }

  /** Builds a new manifest, keeping facts in the order in which they are added. */
  public static final class Builder {
    private final Map<String, String> values = new LinkedHashMap<>();
    private final List<FileEntry> files = new ArrayList<>();
    private final List<ShardSet.Shard> shards = new ArrayList<>();

    /** Adds a fact. Each name may be added only once. */
    public Builder put(String name, Object value) {
      if (values.put(name, value.toString()) != null) {
        throw new IllegalArgumentException("\"" + name + "\" twice");
      }
      return this;
    }

    /** Adds a file. */
    public Builder file(FileEntry entry) {
      files.add(entry);
      return this;
    }

    /** Adds a shard. */
    Builder shard(ShardSet.Shard shard) {
      shards.add(shard);
      return this;
    }

    /** Creates the manifest. */
    public Manifest build() {
      return new Manifest(new LinkedHashMap<>(values), files, shards);
    }
  }

  /** The contents of the manifest file, from which the database id is derived. */
  public byte[] encode() {
    StringBuilder text = new StringBuilder();
    values.forEach((name, value) -> text.append(name).append('=').append(value).append('\n'));
    for (FileEntry entry : files) {
      text.append("file=")
          .append(entry.file.kind().label())
          .append(' ')
          .append(entry.file.number())
          .append(' ')
          .append(entry.pages)
          .append(' ')
          .append(Long.toHexString(entry.digest))
          .append(' ')
          .append(entry.end)
          .append('\n');
    }
    for (FileEntry entry : files) {
      if (entry.sha256 != null) {
        text.append(CONTENT_HASH).append(entry.sha256).append('\n');
      }
    }
    for (ShardSet.Shard shard : shards) {
      text.append("shard=")
          .append(shard.number())
          .append(' ')
          .append(shard.id())
          .append(' ')
          .append(shard.records())
          .append('\n');
    }
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Parses the text of a manifest.
   *
   * @throws CorruptDatabaseException if the text is not a manifest
   * @throws UnsupportedFormatException if it lists a file of an unknown kind
   */
  public static Manifest decode(Path path, byte[] bytes)
      throws CorruptDatabaseException, UnsupportedFormatException {
    Map<String, String> values = new LinkedHashMap<>();
    List<FileEntry> files = new ArrayList<>();
    List<String> hashes = new ArrayList<>();
    List<ShardSet.Shard> shards = new ArrayList<>();
    for (String line : new String(bytes, StandardCharsets.UTF_8).lines().toList()) {
      int equals = line.indexOf('=');
      try {
        String value = line.substring(equals + 1);
        if (line.startsWith("file=")) {
          String name = value.split(" ", -1)[0];
          FileKind kind = FileKind.of(name);
          if (kind == null) {
            throw new UnsupportedFormatException(
                path, "a file of the kind \"" + name + "\"", FileKind.labels());
          }
          files.add(fileEntry(kind, value.split(" ")));
        } else if (line.startsWith(CONTENT_HASH)) {
          hashes.add(contentHash(value));
        } else if (line.startsWith("shard=")) {
          shards.add(shard(value.split(" ")));
        } else {
          values.put(line.substring(0, equals), value);
        }
      } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
        throw new CorruptDatabaseException(
            path, Page.SIZE, "lines of name=value", "\"" + line + "\"");
      }
    }
    if (!hashes.isEmpty() && hashes.size() != files.size()) {
      throw new CorruptDatabaseException(
          path, Page.SIZE, files.size() + " content hashes, one of each file", hashes.size() + "");
    }
    for (int i = 0; i < hashes.size(); i++) {
      files.set(i, files.get(i).with(hashes.get(i)));
    }
    return new Manifest(values, files, shards);
  }

  private static String contentHash(String value) {
    if (!ContentHash.isForm(value)) {
      throw new IllegalArgumentException("not a content hash");
    }
    return value;
  }

  private static ShardSet.Shard shard(String[] parts) {
    return new ShardSet.Shard(
        Integer.parseInt(parts[0]), DatabaseId.parse(parts[1]), Long.parseLong(parts[2]));
  }

  private static FileEntry fileEntry(FileKind kind, String[] parts) {
    return new FileEntry(
        new FileIdentity(kind, Integer.parseInt(parts[1])),
        Long.parseLong(parts[2]),
        Long.parseUnsignedLong(parts[3], 16),
        Long.parseLong(parts[4]),
        null);
  }

  /** A fact as text. */
  public String text(String name) {
    String value = values.get(name);
    if (value == null) {
      throw new IllegalArgumentException("the manifest lacks \"" + name + "\"");
    }
    return value;
  }

  /** A fact as text, or null if there is no fact of that name. */
  public @Nullable String textOrNull(String name) {
    return values.get(name);
  }

  /** A fact as a number. */
  public long number(String name) {
    return Long.parseLong(text(name));
  }

  /** The shards of a set, in the order of their numbers; none in the manifest of a database. */
  public List<ShardSet.Shard> shards() {
    return shards;
  }

  /**
   * All files except the manifest itself, in the order data, dictionary, hash, index, filter,
   * order.
   */
  public List<FileEntry> files() {
    return files;
  }

  /** The files of one kind, by number. */
  public List<FileEntry> files(FileKind kind) {
    return files.stream().filter(entry -> entry.file.kind() == kind).toList();
  }

  /** The number of content pages of all data files. */
  public long dataPages() {
    return files(FileKind.DATA).stream().mapToLong(entry -> entry.pages - 2).sum();
  }
}
