package tech.bsdb.tools.serve.batch;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.List;
import java.util.function.LongPredicate;
import tech.bsdb.tools.text.JsonBuffer;
import tech.bsdb.tools.text.JsonCopier;
import tech.bsdb.tools.text.NameList;

/**
 * The top-level fields of JSON objects that somebody asked for. They come in the order of the
 * document, each as often as it is there, byte for byte but for white space between tokens; what is
 * not there is left out. Immutable.
 */
public final class Projection {
  /** The most names in one projection. */
  public static final int MAX_FIELDS = 1000;

  static final String NOT_JSON = "the value is not JSON";
  static final String NOT_OBJECT = "the value is not a JSON object";

  /** The names, in the order of their bytes. */
  private final byte[][] names;

  private Projection(byte[][] names) {
    this.names = names;
  }

  /**
   * The fields of a list.
   *
   * @param fields their names as {@link NameList} has them, 1 to {@value #MAX_FIELDS}; a point is
   *     like any other character
   * @throws BadRequestException with status 400 if there are too many, one is empty, or a backslash
   *     stands where it may not
   */
  public static Projection parse(String fields) throws BadRequestException {
    if (!UTF_8.newEncoder().canEncode(fields)) {
      throw new BadRequestException("fields has half of a surrogate pair");
    }
    List<String> names;
    try {
      names = NameList.parse(fields);
    } catch (IllegalArgumentException e) {
      throw new BadRequestException("fields " + e.getMessage());
    }
    if (names.size() > MAX_FIELDS) {
      throw new BadRequestException("fields has more than " + MAX_FIELDS + " names");
    }
    byte[][] sorted = new byte[names.size()][];
    for (int i = 0; i < sorted.length; i++) {
      sorted[i] = names.get(i).getBytes(UTF_8);
    }
    Arrays.sort(sorted, Arrays::compareUnsigned);
    return new Projection(sorted);
  }

  /**
   * The fields of an object.
   *
   * @param json the text of the object
   * @param budget asked for the memory, as {@link JsonBuffer#use} says
   * @return the text of an object of those fields alone
   * @throws NotJsonException if it is not JSON, or not an object
   */
  public byte[] project(byte[] json, LongPredicate budget) throws NotJsonException {
    JsonBuffer out = new JsonBuffer();
    out.use(budget);
    switch (new JsonCopier(out).copyFields(json, 0, json.length, this::wants)) {
      case NOT_JSON -> throw new NotJsonException(NOT_JSON);
      case NOT_OBJECT -> throw new NotJsonException(NOT_OBJECT);
      case COPIED -> {}
    }
    return out.copy();
  }

  /** The names, each once, in the order of their bytes. */
  public List<String> names() {
    return Arrays.stream(names).map(name -> new String(name, UTF_8)).distinct().toList();
  }

  /** Whether a name is among them. */
  boolean wants(byte[] name, int offset, int length) {
    int low = 0;
    int high = names.length - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      byte[] other = names[middle];
      int order = Arrays.compareUnsigned(other, 0, other.length, name, offset, offset + length);
      if (order == 0) {
        return true;
      }
      if (order < 0) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return false;
  }
}
