package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowForm;
import tech.bsdb.tools.rows.RowJson;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.serve.batch.AnswerLines;
import tech.bsdb.tools.serve.batch.Projection;
import tech.bsdb.tools.serve.batch.Projection.NotJsonException;
import tech.bsdb.tools.serve.batch.RequestRefusedException;
import tech.bsdb.tools.serve.dataset.ServedVersion;

/**
 * The version that answers: what the headers of its answers state, and facts about its database,
 * determined once. Immutable.
 *
 * <p>An entity tag names one representation: it is derived from the database id, the form of the
 * values, the key, the requested fields, and whether the key is present. Version and request
 * determine the representation, so the tag is known before anything is read.
 *
 * @param version what is known of it, whatever the protocol
 * @param header the header line that names the version
 * @param tagPrefix what the tags of its values begin with
 * @param values the form in which they are answered
 * @param rows how values are written as JSON if they are rows; null if not
 * @param plain the heads of answers to plain GETs; null if values are not in memory, or not
 *     answered as they are
 */
record Served(
    ServedVersion version,
    String header,
    String tagPrefix,
    ValueKind values,
    @Nullable RowForm rows,
    @Nullable PlainHeads plain) {
  /** What the tag of an absent key ends with, before its quote. */
  static final String ABSENCE = "-absent";

  private static final long FNV_OFFSET = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  /** Outside the range of a key's bytes, so that no key ends like a list of fields. */
  private static final int BOUNDARY = 0x100;

  /** Returns what is known of a version whose values are answered in a given form. */
  static Served of(ServedVersion version, ValueKind values) {
    char form =
        switch (values) {
          case BYTES -> 'b';
          case JSON -> 'j';
          case SAFE_JSON -> 's';
        };
    boolean raw = values == ValueKind.BYTES;
    RowSchema schema = raw ? null : version.rows;
    String header = "bsdb-version: " + version.name + "\r\n";
    String tagPrefix = '"' + version.id() + '-' + form;
    boolean verbatim = raw || (schema == null && version.badSchema.isEmpty());
    return new Served(
        version,
        header,
        tagPrefix,
        values,
        schema == null ? null : values.form(schema),
        verbatim && version.statistics.readsMemory()
            ? PlainHeads.of(
                type(values), header + "etag: " + tagPrefix, version.statistics.longestValue())
            : null);
  }

  /** Whether a name is this version's name or database id. */
  boolean isNamed(String name) {
    return name.equals(version.name) || name.equals(version.id());
  }

  /** Returns the type of values that are answered as they are. */
  MediaType type() {
    return type(values);
  }

  private static MediaType type(ValueKind values) {
    return values == ValueKind.BYTES ? MediaType.BYTES : MediaType.JSON;
  }

  /** Whether values are answered as they are, if a request asks for all their fields. */
  boolean isVerbatim() {
    return values == ValueKind.BYTES || (rows == null && version.badSchema.isEmpty());
  }

  /**
   * Creates the writer of values that are answered in lines, or not as they are.
   *
   * @throws RequestRefusedException if the database lacks one of the columns or its schema is
   *     invalid
   */
  AnswerLines lines(@Nullable Projection fields) throws RequestRefusedException {
    if (values != ValueKind.BYTES && !version.badSchema.isEmpty()) {
      throw new RequestRefusedException(500, version.badSchema);
    }
    if (rows == null) {
      return new AnswerLines(values != ValueKind.BYTES, fields);
    }
    RowJson writer;
    try {
      writer = new RowJson(fields == null ? rows : rows.withColumns(fields.names()));
    } catch (IllegalArgumentException e) {
      throw new RequestRefusedException("fields: " + e.getMessage());
    }
    return new AnswerLines(
        (bytes, offset, length, out) -> {
          try {
            writer.write(bytes, offset, length, out);
          } catch (BadRowException e) {
            throw new NotJsonException(
                "the value is not a row of the database's schema: " + e.getMessage());
          }
        });
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
