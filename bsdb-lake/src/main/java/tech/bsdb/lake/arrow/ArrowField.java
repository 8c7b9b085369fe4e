package tech.bsdb.lake.arrow;

import com.google.flatbuffers.Table;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.apache.arrow.flatbuf.Date;
import org.apache.arrow.flatbuf.DateUnit;
import org.apache.arrow.flatbuf.Decimal;
import org.apache.arrow.flatbuf.DictionaryEncoding;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.FixedSizeBinary;
import org.apache.arrow.flatbuf.FixedSizeList;
import org.apache.arrow.flatbuf.FloatingPoint;
import org.apache.arrow.flatbuf.Int;
import org.apache.arrow.flatbuf.Interval;
import org.apache.arrow.flatbuf.IntervalUnit;
import org.apache.arrow.flatbuf.KeyValue;
import org.apache.arrow.flatbuf.Precision;
import org.apache.arrow.flatbuf.Time;
import org.apache.arrow.flatbuf.TimeUnit;
import org.apache.arrow.flatbuf.Timestamp;
import org.apache.arrow.flatbuf.Type;
import org.apache.arrow.flatbuf.Union;
import org.apache.arrow.flatbuf.UnionMode;
import org.jspecify.annotations.Nullable;
import tech.bsdb.lake.arrow.ArrowVector.Getter;
import tech.bsdb.tools.rows.RowType;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.ListOf;
import tech.bsdb.tools.rows.RowType.MapOf;
import tech.bsdb.tools.rows.RowType.Pairs;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.rows.RowType.Struct;
import tech.bsdb.tools.table.TableFile.BadValueException;
import tech.bsdb.tools.text.HalfFloat;

/**
 * A field of a schema: its type, and how its vectors are read from a batch.
 *
 * @see <a
 *     href="https://arrow.apache.org/docs/format/Columnar.html#buffer-listing-for-each-layout">the
 *     buffers of each layout</a>
 */
final class ArrowField {
  private static final int MAX_DEPTH = 200;
  private static final long DAY_MILLIS = 86_400_000;

  /** Reads a vector. */
  @FunctionalInterface
  private interface Loader {
    ArrowVector load(ArrowBody body) throws IOException;
  }

  /** Passes over the nodes and buffers of a vector. */
  @FunctionalInterface
  private interface Skipper {
    void skip(ArrowBody body);
  }

  /**
   * What the fields of a schema share.
   *
   * @param dictionaries the fields of the values of dictionaries, by their identifiers
   * @param isOld whether the format has version 4, in which unions and run ends have a validity
   */
  record Context(Map<Long, ArrowField> dictionaries, boolean isOld) {}

  private final Context context;

  private final String name;
  private final boolean nullable;
  private final List<ArrowField> children = new ArrayList<>();
  private final Set<Long> ids = new LinkedHashSet<>();
  private RowType type = Scalar.of(Kind.NULL);
  private @Nullable String unreadable;
  private Loader loader = body -> new Flat(0, null, ByteBuffer.allocate(0), (data, i) -> null);
  private Skipper skipper = body -> {};

  private ArrowField(Field field, boolean values, int depth, Context context) {
    this.context = context;
    this.name = field.name() == null ? "" : field.name();
    if (depth > MAX_DEPTH) {
      throw new IllegalStateException("it has more than " + MAX_DEPTH + " levels");
    }
    DictionaryEncoding dictionary = values ? null : field.dictionary();
    if (dictionary != null) {
      this.nullable = field.nullable();
      beIndexes(field, dictionary, depth);
      return;
    }
    for (int i = 0; i < field.childrenLength(); i++) {
      children.add(new ArrowField(field.children(i), false, depth + 1, context));
    }
    for (ArrowField child : children) {
      ids.addAll(child.ids);
      unreadable = unreadable == null ? child.unreadable : unreadable;
    }
    be(field);
    this.nullable =
        field.nullable() || field.typeType() == Type.RunEndEncoded && children.get(1).nullable;
  }

  /**
   * Returns a field.
   *
   * @param context receives the fields of the values of dictionaries
   */
  static ArrowField of(Field field, Context context) {
    return new ArrowField(field, false, 0, context);
  }

  /** Returns the column that it is. */
  Column column() {
    return new Column(name, type, nullable);
  }

  String name() {
    return name;
  }

  /** Returns what it is or contains that cannot be read, as a noun; or null. */
  @Nullable String unreadable() {
    return unreadable;
  }

  /** Returns the identifiers of the dictionaries that its vectors need. */
  Set<Long> dictionaryIds() {
    Set<Long> all = new LinkedHashSet<>();
    addIds(all);
    return all;
  }

  private void addIds(Set<Long> all) {
    for (long id : ids) {
      ArrowField values = context.dictionaries().get(id);
      if (all.add(id) && values != null) {
        values.addIds(all);
      }
    }
  }

  /** Reads the next vector of a batch. */
  ArrowVector load(ArrowBody body) throws IOException {
    return loader.load(body);
  }

  /** Passes over the next vector of a batch. */
  void skip(ArrowBody body) {
    skipper.skip(body);
  }

  private void beIndexes(Field field, DictionaryEncoding dictionary, int depth) {
    long id = dictionary.id();
    ArrowField values = new ArrowField(field, true, depth + 1, context);
    context.dictionaries().putIfAbsent(id, values);
    ids.add(id);
    type = values.type;
    unreadable = values.unreadable;
    Int index = dictionary.indexType();
    int bits = index == null ? 32 : index.bitWidth();
    boolean signed = index == null || index.isSigned();
    Getter indexes = whole(bits, signed);
    loader =
        body -> {
          int length = body.nextLength();
          ByteBuffer validity = body.nextValidity(length);
          ByteBuffer data = body.nextBuffer();
          ArrowDictionary entries = body.dictionary(id);
          return new Flat(
              length,
              validity,
              data,
              (from, i) -> {
                Object at = indexes.get(from, i);
                return entries.value(
                    at instanceof BigDecimal large ? large.longValueExact() : number(at));
              });
        };
    skipper = body -> skip(body, 2);
  }

  private static long number(@Nullable Object index) {
    return ((Number) Objects.requireNonNull(index)).longValue();
  }

  private static void skip(ArrowBody body, int buffers) {
    body.nextLength();
    body.skipBuffers(buffers);
  }

  private void skipWithChildren(ArrowBody body, int buffers) {
    skip(body, buffers);
    children.forEach(child -> child.skip(body));
  }

  private void refuse(String what) {
    unreadable = what;
  }

  private void be(Field field) {
    switch (field.typeType()) {
      case Type.Null -> {
        type = Scalar.of(Kind.NULL);
        loader =
            body -> new Flat(body.nextLength(), null, ByteBuffer.allocate(0), (data, i) -> null);
        skipper = ArrowBody::nextLength;
      }
      case Type.Bool -> flat(Scalar.of(Kind.BOOLEAN), (data, i) -> ArrowVector.bit(data, i));
      case Type.Int -> beInt(typed(field, new Int()));
      case Type.FloatingPoint -> beFloat(typed(field, new FloatingPoint()));
      case Type.Decimal -> beDecimal(typed(field, new Decimal()));
      case Type.Date -> beDate(typed(field, new Date()));
      case Type.Time -> beTime(typed(field, new Time()));
      case Type.Timestamp -> beTimestamp(typed(field, new Timestamp()));
      case Type.Duration -> flat(Scalar.of(Kind.LONG), whole(64, true));
      case Type.Interval -> beInterval(typed(field, new Interval()));
      case Type.FixedSizeBinary ->
          beFixed(typed(field, new FixedSizeBinary()).byteWidth(), extension(field));
      case Type.Utf8 -> beBytes(Kind.STRING, Integer.BYTES);
      case Type.LargeUtf8 -> beBytes(Kind.STRING, Long.BYTES);
      case Type.Binary -> beBytes(Kind.BYTES, Integer.BYTES);
      case Type.LargeBinary -> beBytes(Kind.BYTES, Long.BYTES);
      case Type.Utf8View -> beViews(Kind.STRING);
      case Type.BinaryView -> beViews(Kind.BYTES);
      case Type.List -> beList(Integer.BYTES);
      case Type.LargeList -> beList(Long.BYTES);
      case Type.ListView -> beListView(Integer.BYTES);
      case Type.LargeListView -> beListView(Long.BYTES);
      case Type.FixedSizeList -> beFixedList(typed(field, new FixedSizeList()).listSize());
      case Type.Struct_ -> beStruct(extension(field));
      case Type.Map -> beMap();
      case Type.RunEndEncoded -> beRuns();
      case Type.Union -> {
        boolean dense = typed(field, new Union()).mode() == UnionMode.Dense;
        refuse("a union");
        int buffers = (dense ? 2 : 1) + (context.isOld() ? 1 : 0);
        skipper = body -> skipWithChildren(body, buffers);
      }
      default -> throw new IllegalStateException("column " + name + " is of an unknown type");
    }
  }

  private static <T extends Table> T typed(Field field, T type) {
    if (field.type(type) == null) {
      throw new IllegalStateException("a field has no type");
    }
    return type;
  }

  private static String extension(Field field) {
    for (int i = 0; i < field.customMetadataLength(); i++) {
      KeyValue entry = field.customMetadata(i);
      if ("ARROW:extension:name".equals(entry.key()) && entry.value() != null) {
        return entry.value();
      }
    }
    return "";
  }

  /** Values of one width, and a bit of validity for each. */
  private void flat(Scalar scalar, Getter getter) {
    type = scalar;
    loader =
        body -> {
          int length = body.nextLength();
          ByteBuffer validity = body.nextValidity(length);
          return new Flat(length, validity, body.nextBuffer(), getter);
        };
    skipper = body -> skip(body, 2);
  }

  private static final class Flat extends ArrowVector {
    private final ByteBuffer data;
    private final Getter getter;

    Flat(int length, @Nullable ByteBuffer validity, ByteBuffer data, Getter getter) {
      super(length, validity);
      this.data = data;
      this.getter = getter;
    }

    @Override
    @Nullable Object get(int i) throws BadValueException {
      return getter.get(data, i);
    }
  }

  private void beInt(Int number) {
    int bits = number.bitWidth();
    boolean signed = number.isSigned();
    flat(
        bits == 64 && !signed
            ? Scalar.decimal(20, 0)
            : Scalar.of(bits == 64 || bits == 32 && !signed ? Kind.LONG : Kind.INT),
        whole(bits, signed));
  }

  private static Getter whole(int bits, boolean signed) {
    return switch (bits) {
      case 8 -> signed ? (data, i) -> (int) data.get(i) : (data, i) -> data.get(i) & 0xFF;
      case 16 ->
          signed
              ? (data, i) -> (int) data.getShort(ArrowVector.at(i, 2))
              : (data, i) -> data.getShort(ArrowVector.at(i, 2)) & 0xFFFF;
      case 32 ->
          signed
              ? (data, i) -> data.getInt(ArrowVector.at(i, 4))
              : (data, i) -> Integer.toUnsignedLong(data.getInt(ArrowVector.at(i, 4)));
      case 64 ->
          signed
              ? (data, i) -> data.getLong(ArrowVector.at(i, 8))
              : (data, i) ->
                  new BigDecimal(Long.toUnsignedString(data.getLong(ArrowVector.at(i, 8))));
      default -> throw new IllegalStateException("integers of " + bits + " bits");
    };
  }

  private void beFloat(FloatingPoint number) {
    switch (number.precision()) {
      case Precision.HALF ->
          flat(Scalar.of(Kind.FLOAT), (data, i) -> half(data.getShort(ArrowVector.at(i, 2))));
      case Precision.SINGLE ->
          flat(Scalar.of(Kind.FLOAT), (data, i) -> data.getFloat(ArrowVector.at(i, 4)));
      default -> flat(Scalar.of(Kind.DOUBLE), (data, i) -> data.getDouble(ArrowVector.at(i, 8)));
    }
  }

  /** Returns the number with 16 bits (IEEE 754). */
  private static float half(short bits) {
    return HalfFloat.of(bits & 0xFFFF);
  }

  private void beDecimal(Decimal decimal) {
    int bytes = decimal.bitWidth() / Byte.SIZE;
    int scale = decimal.scale();
    if (bytes != 4 && bytes != 8 && bytes != 16 && bytes != 32) {
      throw new IllegalStateException("decimals of " + decimal.bitWidth() + " bits");
    }
    if (decimal.precision() < 1 || scale < 0 || scale > decimal.precision()) {
      refuse("a decimal(%s,%s)".formatted(decimal.precision(), scale));
      skipper = body -> skip(body, 2);
      return;
    }
    flat(
        Scalar.decimal(decimal.precision(), scale),
        (data, i) -> {
          byte[] number = new byte[bytes];
          int from = ArrowVector.at(i, bytes);
          for (int at = 0; at < bytes; at++) {
            number[bytes - 1 - at] = data.get(from + at);
          }
          return new BigDecimal(new BigInteger(number), scale);
        });
  }

  private void beDate(Date date) {
    if (date.unit() == DateUnit.DAY) {
      flat(Scalar.of(Kind.DATE), whole(32, true));
      return;
    }
    flat(
        Scalar.of(Kind.DATE),
        (data, i) -> {
          long millis = data.getLong(ArrowVector.at(i, 8));
          long day = millis / DAY_MILLIS;
          if (day * DAY_MILLIS != millis || day != (int) day) {
            throw new BadValueException("a date that is not a whole day", millis + " ms");
          }
          return (int) day;
        });
  }

  private static int digits(short unit) {
    return unit == TimeUnit.NANOSECOND ? 9 : unit == TimeUnit.MICROSECOND ? 6 : 3;
  }

  private void beTime(Time time) {
    Scalar scalar = Scalar.time(Kind.TIME, digits(time.unit()));
    boolean seconds = time.unit() == TimeUnit.SECOND;
    flat(
        scalar,
        time.bitWidth() == 64
            ? whole(64, true)
            : seconds
                ? (data, i) -> 1_000L * data.getInt(ArrowVector.at(i, 4))
                : (data, i) -> (long) data.getInt(ArrowVector.at(i, 4)));
  }

  private void beTimestamp(Timestamp timestamp) {
    String zone = timestamp.timezone();
    Kind kind = zone == null || zone.isEmpty() ? Kind.LOCAL_TIMESTAMP : Kind.TIMESTAMP;
    flat(
        Scalar.time(kind, digits(timestamp.unit())),
        timestamp.unit() == TimeUnit.SECOND ? ArrowField::seconds : whole(64, true));
  }

  private static Object seconds(ByteBuffer data, int i) throws BadValueException {
    long seconds = data.getLong(ArrowVector.at(i, 8));
    try {
      return Math.multiplyExact(seconds, 1_000L);
    } catch (ArithmeticException e) {
      throw new BadValueException("a timestamp that is too far away", seconds + " s");
    }
  }

  private void beInterval(Interval interval) {
    Scalar scalar = Scalar.of(Kind.INTERVAL);
    switch (interval.unit()) {
      case IntervalUnit.YEAR_MONTH ->
          flat(scalar, (data, i) -> interval(data.getInt(ArrowVector.at(i, 4)), 0, 0));
      case IntervalUnit.DAY_TIME ->
          flat(
              scalar,
              (data, i) -> {
                int at = ArrowVector.at(i, 8);
                return interval(0, data.getInt(at), data.getInt(at + 4));
              });
      default ->
          flat(
              scalar,
              (data, i) -> {
                int at = ArrowVector.at(i, 16);
                long nanos = data.getLong(at + 8);
                if (nanos % 1_000_000 != 0) {
                  throw new BadValueException(
                      "an interval that is not whole milliseconds", nanos + " ns");
                }
                return interval(data.getInt(at), data.getInt(at + 4), nanos / 1_000_000);
              });
    }
  }

  private static byte[] interval(int months, int days, long millis) throws BadValueException {
    if (months < 0 || days < 0 || millis < 0 || millis > 0xFFFF_FFFFL) {
      throw new BadValueException(
          "an interval that is negative or too long",
          "%s months, %s days, %s ms".formatted(months, days, millis));
    }
    return ByteBuffer.allocate(12)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(months)
        .putInt(days)
        .putInt((int) millis)
        .array();
  }

  private void beFixed(int width, String extension) {
    if (width <= 0) {
      refuse("a binary of " + width + " bytes");
      skipper = body -> skip(body, 2);
      return;
    }
    if (extension.equals("arrow.uuid") && width == 16) {
      flat(
          Scalar.of(Kind.UUID),
          (data, i) -> {
            ByteBuffer bytes = data.slice(ArrowVector.at(i, 16), 16); // big-endian
            return new UUID(bytes.getLong(), bytes.getLong());
          });
    } else {
      flat(Scalar.fixed(width), (data, i) -> data.slice(ArrowVector.at(i, width), width));
    }
  }

  /** Returns an offset, or a size, of four or eight bytes. */
  private static int offset(ByteBuffer offsets, int i, int width) {
    return width == Integer.BYTES
        ? offsets.getInt(ArrowVector.at(i, width))
        : Math.toIntExact(offsets.getLong(ArrowVector.at(i, width)));
  }

  private void beBytes(Kind kind, int width) {
    type = Scalar.of(kind);
    loader =
        body -> {
          int length = body.nextLength();
          ByteBuffer validity = body.nextValidity(length);
          ByteBuffer offsets = body.nextBuffer();
          ByteBuffer data = body.nextBuffer();
          return new Flat(
              length,
              validity,
              data,
              (from, i) -> {
                int begin = offset(offsets, i, width);
                return from.slice(begin, offset(offsets, i + 1, width) - begin);
              });
        };
    skipper = body -> skip(body, 3);
  }

  private void beViews(Kind kind) {
    type = Scalar.of(kind);
    loader =
        body -> {
          int length = body.nextLength();
          ByteBuffer validity = body.nextValidity(length);
          ByteBuffer views = body.nextBuffer();
          ByteBuffer[] data = new ByteBuffer[body.nextVariadicCount()];
          for (int i = 0; i < data.length; i++) {
            data[i] = body.nextBuffer();
          }
          return new Flat(length, validity, views, (from, i) -> view(from, i, data));
        };
    skipper =
        body -> {
          skip(body, 2);
          body.skipBuffers(body.nextVariadicCount());
        };
  }

  private static ByteBuffer view(ByteBuffer views, int i, ByteBuffer[] data) {
    int at = ArrowVector.at(i, 16);
    int size = views.getInt(at);
    return size <= 12
        ? views.slice(at + 4, size)
        : data[views.getInt(at + 8)].slice(views.getInt(at + 12), size);
  }

  /** Values that are lists of those of the only child. */
  private abstract static class Lists extends ArrowVector {
    private final ArrowVector elements;

    Lists(int length, @Nullable ByteBuffer validity, ArrowVector elements) {
      super(length, validity);
      this.elements = elements;
    }

    abstract int from(int i);

    abstract int size(int i);

    @Override
    Object get(int i) throws BadValueException {
      int from = from(i);
      int size = size(i);
      if (from < 0 || size < 0 || size > elements.length - from) {
        throw new IllegalStateException(
            "a list has %s elements from %s of %s".formatted(size, from, elements.length));
      }
      List<@Nullable Object> list = new ArrayList<>(size);
      for (int at = from; at < from + size; at++) {
        list.add(elements.value(at));
      }
      return list;
    }
  }

  private static Lists ofOffsets(
      int length,
      @Nullable ByteBuffer validity,
      ArrowVector elements,
      ByteBuffer offsets,
      int width) {
    return new Lists(length, validity, elements) {
      @Override
      int from(int i) {
        return offset(offsets, i, width);
      }

      @Override
      int size(int i) {
        return offset(offsets, i + 1, width) - from(i);
      }
    };
  }

  private void beList(int width) {
    ArrowField element = child(0, 1);
    type = new ListOf(element.column());
    loader =
        body -> {
          int length = body.nextLength();
          ByteBuffer validity = body.nextValidity(length);
          ByteBuffer offsets = body.nextBuffer();
          return ofOffsets(length, validity, element.load(body), offsets, width);
        };
    skipper = body -> skipWithChildren(body, 2);
  }

  private void beListView(int width) {
    ArrowField element = child(0, 1);
    type = new ListOf(element.column());
    loader =
        body -> {
          int length = body.nextLength();
          ByteBuffer validity = body.nextValidity(length);
          ByteBuffer offsets = body.nextBuffer();
          ByteBuffer sizes = body.nextBuffer();
          return new Lists(length, validity, element.load(body)) {
            @Override
            int from(int i) {
              return offset(offsets, i, width);
            }

            @Override
            int size(int i) {
              return offset(sizes, i, width);
            }
          };
        };
    skipper = body -> skipWithChildren(body, 3);
  }

  private void beFixedList(int size) {
    ArrowField element = child(0, 1);
    type = new ListOf(element.column());
    if (size < 0) {
      throw new IllegalStateException("lists of " + size + " elements");
    }
    loader =
        body -> {
          int length = body.nextLength();
          ByteBuffer validity = body.nextValidity(length);
          return new Lists(length, validity, element.load(body)) {
            @Override
            int from(int i) {
              return at(i, size);
            }

            @Override
            int size(int i) {
              return size;
            }
          };
        };
    skipper = body -> skipWithChildren(body, 1);
  }

  private void beStruct(String extension) {
    type = new Struct(children.stream().map(ArrowField::column).toList());
    loader = this::loadStruct;
    skipper = body -> skipWithChildren(body, 1);
    if (extension.endsWith("parquet.variant")) {
      refuse("a VARIANT");
    }
  }

  private ArrowVector loadStruct(ArrowBody body) throws IOException {
    int length = body.nextLength();
    ByteBuffer validity = body.nextValidity(length);
    List<ArrowVector> fields = new ArrayList<>();
    for (ArrowField child : children) {
      fields.add(child.load(body));
    }
    return new ArrowVector(length, validity) {
      @Override
      Object get(int i) throws BadValueException {
        @Nullable Object[] values = new @Nullable Object[fields.size()];
        for (int at = 0; at < values.length; at++) {
          values[at] = fields.get(at).value(i);
        }
        return values;
      }
    };
  }

  private void beMap() {
    ArrowField entries = child(0, 1);
    ArrowField key = entries.child(0, 2);
    ArrowField value = entries.child(1, 2);
    type =
        key.type.equals(Scalar.of(Kind.STRING))
            ? new MapOf(value.column())
            : new Pairs(key.column().withNullable(false), value.column());
    loader =
        body -> {
          int length = body.nextLength();
          ByteBuffer validity = body.nextValidity(length);
          ByteBuffer offsets = body.nextBuffer();
          int pairs = body.nextLength();
          body.nextValidity(pairs);
          ArrowVector keys = key.load(body);
          ArrowVector values = value.load(body);
          ArrowVector all =
              new ArrowVector(pairs, null) {
                @Override
                Object get(int i) throws BadValueException {
                  return new SimpleImmutableEntry<>(keys.value(i), values.value(i));
                }
              };
          return ofOffsets(length, validity, all, offsets, Integer.BYTES);
        };
    skipper = body -> skipWithChildren(body, 2);
  }

  private void beRuns() {
    ArrowField ends = child(0, 2);
    ArrowField values = child(1, 2);
    type = values.type;
    int buffers = context.isOld() ? 1 : 0;
    loader =
        body -> {
          int length = body.nextLength();
          body.skipBuffers(buffers);
          ArrowVector runs = ends.load(body);
          ArrowVector each = values.load(body);
          return new ArrowVector(length, null) {
            @Override
            @Nullable Object get(int i) throws BadValueException {
              int low = 0;
              int high = runs.length;
              while (low < high) { // finds the first run that ends after the index
                int middle = (low + high) >>> 1;
                if (number(runs.value(middle)) > i) {
                  high = middle;
                } else {
                  low = middle + 1;
                }
              }
              return each.value(low);
            }
          };
        };
    skipper = body -> skipWithChildren(body, buffers);
  }

  private ArrowField child(int i, int count) {
    if (children.size() != count) {
      throw new IllegalStateException(
          "column %s has %s fields, not %s".formatted(name, children.size(), count));
    }
    return children.get(i);
  }
}
