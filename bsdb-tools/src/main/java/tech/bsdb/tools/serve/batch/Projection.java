package tech.bsdb.tools.serve.batch;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.toSet;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import tech.bsdb.tools.text.JsonCopier;
import tech.bsdb.tools.text.NameList;

/**
 * The requested top-level fields of JSON objects. They are returned in document order, as often as
 * they occur, byte for byte except for white space between tokens; absent fields are omitted.
 * Immutable.
 */
public final class Projection {
  /** The maximum number of names in one projection. */
  public static final int MAX_FIELDS = 1000;

  /** The names, in byte order. */
  private final List<String> names;

  private final Set<ByteBuffer> encoded;

  /** A value that cannot be returned as JSON, or whose fields cannot. */
  public static final class NotJsonException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Creates an exception whose message says briefly what is wrong with the value. */
    public NotJsonException(String message) {
      super(message, null, false, false);
    }

    @Override
    public String getMessage() {
      return String.valueOf(super.getMessage());
    }
  }

  private Projection(List<String> names) {
    this.names = names;
    this.encoded =
        names.stream().map(name -> ByteBuffer.wrap(name.getBytes(UTF_8))).collect(toSet());
  }

  /**
   * Parses a list of fields.
   *
   * @param fields their names in the form of {@link NameList}, 1 to {@value #MAX_FIELDS}; a dot has
   *     no special meaning
   * @throws RequestRefusedException with status 400 if there are too many, one is empty, or a
   *     backslash is misplaced
   */
  public static Projection parse(String fields) throws RequestRefusedException {
    if (!UTF_8.newEncoder().canEncode(fields)) {
      throw new RequestRefusedException("fields has a lone surrogate");
    }
    List<String> names;
    try {
      names = NameList.parse(fields);
    } catch (IllegalArgumentException e) {
      throw new RequestRefusedException("fields " + e.getMessage());
    }
    if (names.size() > MAX_FIELDS) {
      throw new RequestRefusedException("fields has more than " + MAX_FIELDS + " names");
    }
    Comparator<String> inByteOrder =
        Comparator.comparing(name -> name.getBytes(UTF_8), Arrays::compareUnsigned);
    return new Projection(names.stream().distinct().sorted(inByteOrder).toList());
  }

  /**
   * Requires that a value was copied.
   *
   * @throws NotJsonException saying why not
   */
  static void require(JsonCopier.Outcome outcome) throws NotJsonException {
    switch (outcome) {
      case NOT_JSON -> throw new NotJsonException("the value is not JSON");
      case NOT_OBJECT -> throw new NotJsonException("the value is not a JSON object");
      case COPIED -> {}
    }
  }

  /** Returns the distinct names, in byte order. */
  public List<String> names() {
    return names;
  }

  /** Whether a name is requested. */
  boolean wants(byte[] name, int offset, int length) {
    return encoded.contains(ByteBuffer.wrap(name, offset, length));
  }
}
