package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.serve.batch.Projection;

/**
 * Which version answers, as the headers of its answers say it. Immutable.
 *
 * <p>An entity tag names one representation: it is made of the database id, the form of the values,
 * the key, the fields that were asked for, and whether the key is there. Version and request
 * determine the representation, so that a tag is known before anything is read.
 */
final class Identity {
  private static final long FNV_OFFSET = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  /** Beyond a key's bytes, so that no key ends like a list of fields. */
  private static final int BOUNDARY = 0x100;

  private final Database database;
  private final String version;
  private final String id;
  private final String header;
  private final String tagBegins;

  private Identity(Database database, String version, String id, char form) {
    this.database = database;
    this.version = version;
    this.id = id;
    this.header = "bsdb-version: " + version + "\r\n";
    this.tagBegins = '"' + id + '-' + form;
  }

  /** The identity of what is leased, whose values are answered in a form. */
  static Identity of(Lease lease, ValueKind values) {
    Database database = lease.database();
    char form =
        switch (values) {
          case BYTES -> 'b';
          case JSON -> 'j';
          case SAFE_JSON -> 's';
        };
    return new Identity(database, lease.version(), database.statistics().databaseId(), form);
  }

  /** Whether this is the identity of a database. */
  boolean isOf(Database other) {
    return database == other;
  }

  /** The version's name in its store; for a single database, its id. */
  String version() {
    return version;
  }

  /** The database id. */
  String id() {
    return id;
  }

  /** The header line that names the version. */
  String header() {
    return header;
  }

  /** Whether a client means this version, by its name or its database id. */
  boolean isCalled(String name) {
    return name.equals(version) || name.equals(id);
  }

  /** The tag of a value that is there, in its quotes. */
  String tag(byte[] key, @Nullable Projection fields) {
    long hash = FNV_OFFSET;
    for (byte b : key) {
      hash = (hash ^ (b & 0xff)) * FNV_PRIME;
    }
    if (fields != null) {
      for (String name : fields.names()) {
        hash = (hash ^ BOUNDARY) * FNV_PRIME;
        for (byte b : name.getBytes(UTF_8)) {
          hash = (hash ^ (b & 0xff)) * FNV_PRIME;
        }
      }
    }
    StringBuilder tag = new StringBuilder(tagBegins.length() + 17).append(tagBegins);
    for (int shift = 60; shift >= 0; shift -= 4) {
      tag.append(Character.forDigit((int) (hash >>> shift) & 15, 16));
    }
    return tag.append('"').toString();
  }

  /** The tag of the answer that a key is absent, from that of its value. */
  static String tagOfAbsence(String tag) {
    return tag.substring(0, tag.length() - 1) + "-absent\"";
  }

  /** The header lines of an answer with a tag. */
  String headers(String tag) {
    return header + "etag: " + tag + "\r\n";
  }
}
