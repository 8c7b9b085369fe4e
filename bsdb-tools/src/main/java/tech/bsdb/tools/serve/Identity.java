package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.serve.batch.Projection;

/**
 * Identifies the version that answers, as stated in the headers of its answers. Immutable.
 *
 * <p>An entity tag names one representation: it is derived from the database id, the form of the
 * values, the key, the requested fields, and whether the key is present. Version and request
 * determine the representation, so the tag is known before anything is read.
 *
 * @param version the version's name in its store; for a single database, its id
 * @param id the database id
 * @param header the header line that names the version
 * @param tagPrefix what the tags of its values begin with
 */
record Identity(Database database, String version, String id, String header, String tagPrefix) {
  private static final long FNV_OFFSET = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  /** What the tag of an absent key ends with, before its quote. */
  static final String ABSENCE = "-absent";

  /** Outside the range of a key's bytes, so that no key ends like a list of fields. */
  private static final int BOUNDARY = 0x100;

  /** Returns the identity of a leased version whose values are answered in a given form. */
  static Identity of(Lease lease, ValueKind values) {
    Database database = lease.database();
    char form =
        switch (values) {
          case BYTES -> 'b';
          case JSON -> 'j';
          case SAFE_JSON -> 's';
        };
    String version = lease.version();
    String id = database.statistics().databaseId();
    return new Identity(
        database, version, id, "bsdb-version: " + version + "\r\n", '"' + id + '-' + form);
  }

  /** Whether this is the identity of the given database. */
  boolean isOf(Database other) {
    return database == other;
  }

  /** Whether a name is this version's name or database id. */
  boolean isNamed(String name) {
    return name.equals(version) || name.equals(id);
  }

  /** Returns the tag of a present value, including its quotes. */
  String tag(byte[] key, @Nullable Projection fields) {
    long hash = hash(key);
    if (fields != null) {
      for (String name : fields.names()) {
        hash = (hash ^ BOUNDARY) * FNV_PRIME;
        for (byte b : name.getBytes(UTF_8)) {
          hash = (hash ^ (b & 0xff)) * FNV_PRIME;
        }
      }
    }
    return tagPrefix + HexFormat.of().toHexDigits(hash) + '"';
  }

  /** Returns the number in the tag of a value that is answered whole. */
  static long hash(byte[] key) {
    long hash = FNV_OFFSET;
    for (byte b : key) {
      hash = (hash ^ (b & 0xff)) * FNV_PRIME;
    }
    return hash;
  }

  /** Returns the tag of the answer for an absent key, derived from the tag of its value. */
  static String tagOfAbsence(String tag) {
    return tag.substring(0, tag.length() - 1) + ABSENCE + '"';
  }

  /** Returns the header lines of an answer with a tag. */
  String headers(String tag) {
    return header + "etag: " + tag + "\r\n";
  }
}
