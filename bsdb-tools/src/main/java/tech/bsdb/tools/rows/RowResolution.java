package tech.bsdb.tools.rows;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.avro.LogicalType;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowConverter.Step;
import tech.bsdb.tools.text.Utf8;

/**
 * How rows of one schema become rows of another: Avro's schema resolution, with the other schema as
 * the reader's. Fields are matched by column name or by an alias of the reader's field. Those that
 * only the writer has are left out, and those that only the reader has take their default. int
 * widens to long, float and double, long to float and double, float to double, and strings and
 * bytes are exchanged. Symbols of an enumeration are matched by name.
 *
 * <p>There are three differences. Names of types do not matter, since rows of Parquet files have
 * made-up ones. Logical types must be the same, decimals of the same scale and no greater
 * precision, so that no value changes its meaning. An int or long that a float or double would
 * round is a fault of its row.
 *
 * <p>Immutable and thread-safe.
 *
 * @see <a href="https://avro.apache.org/docs/1.12.0/specification/#schema-resolution">the rules</a>
 */
public final class RowResolution {
  private static final byte[] NOTHING = {};

  private final RowSchema written;
  private final RowSchema stored;
  private final Step record;

  private RowResolution(RowSchema written, RowSchema stored, Step record) {
    this.written = written;
    this.stored = stored;
    this.record = record;
  }

  /**
   * Resolves a schema against another one.
   *
   * @param written the schema of the rows
   * @param stored the schema of the rows that they become
   * @throws IllegalArgumentException if no row could become one; the message names the field
   */
  public static RowResolution of(RowSchema written, RowSchema stored) {
    return of(written, stored, false);
  }

  /**
   * Resolves a schema against another one.
   *
   * @param written the schema of the rows
   * @param stored the schema of the rows that they become
   * @param anyCase whether fields are the same if their names differ only in case, which only one
   *     field may have on either side
   * @throws IllegalArgumentException if no row could become one; the message names the field
   */
  public static RowResolution of(RowSchema written, RowSchema stored, boolean anyCase) {
    try {
      return new RowResolution(
          written, stored, new Resolver(anyCase).resolve(written.avro(), stored.avro(), ""));
    } catch (MismatchException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  /** Returns the schema of the rows that are converted. */
  public RowSchema written() {
    return written;
  }

  /** Returns the schema of the rows that they become. */
  public RowSchema stored() {
    return stored;
  }

  /** Whether a row is the same in both schemas. */
  public boolean isIdentity() {
    return written.avro().equals(stored.avro());
  }

  /** Creates a converter for one thread. */
  public RowConverter newConverter() {
    return new RowConverter(record);
  }

  /** Two types that do not match; the message names the field. */
  private static final class MismatchException extends Exception {
    private static final long serialVersionUID = 1L;

    MismatchException(String message) {
      super(message, null, false, false);
    }
  }

  /** Two types, told apart as objects: those of recursive records are infinite. */
  private record Pair(Schema from, Schema to) {
    @Override
    @SuppressWarnings("ReferenceEquality")
    public boolean equals(@Nullable Object other) {
      return other instanceof Pair that && from == that.from && to == that.to;
    }

    @Override
    public int hashCode() {
      return 31 * System.identityHashCode(from) + System.identityHashCode(to);
    }
  }

  /** Finds the steps for a pair of schemas. */
  private static final class Resolver {
    /** In the order in which their resolution began. */
    private final Map<Pair, FieldSteps> records = new LinkedHashMap<>();

    private final boolean anyCase;

    Resolver(boolean anyCase) {
      this.anyCase = anyCase;
    }

    Step resolve(Schema from, Schema to, String path) throws MismatchException {
      if (from.getType() == Schema.Type.UNION) {
        return ofUnion(from, to, path);
      }
      return to.getType() == Schema.Type.UNION
          ? intoUnion(from, to, path)
          : ofTypes(from, to, path);
    }

    /** A value of any branch: null may have no place, which is then the fault of a row with it. */
    private Step ofUnion(Schema from, Schema to, String path) throws MismatchException {
      List<Schema> branches = from.getTypes();
      @Nullable Step[] steps = new @Nullable Step[branches.size()];
      MismatchException ofNull = null;
      for (int i = 0; i < steps.length; i++) {
        try {
          steps[i] = resolve(branches.get(i), to, path);
        } catch (MismatchException e) {
          if (branches.get(i).getType() != Schema.Type.NULL) {
            throw e;
          }
          ofNull = e;
        }
      }
      if (ofNull != null && steps.length == 1) {
        throw ofNull;
      }
      return row -> {
        Step step = steps[row.in.readIndex(steps.length, "types of a union")];
        if (step == null) {
          throw new BadRowException("column \"" + path + "\" is null, which is not allowed there");
        }
        step.convert(row);
      };
    }

    private Step intoUnion(Schema from, Schema to, String path) throws MismatchException {
      List<Schema> branches = to.getTypes();
      MismatchException within = null;
      for (boolean widened : new boolean[] {false, true}) {
        for (int i = 0; i < branches.size(); i++) {
          if (isAlike(from, branches.get(i)) == widened) {
            continue;
          }
          int branch = i;
          try {
            Step step = ofTypes(from, branches.get(i), path);
            return row -> {
              row.out.putLong(branch);
              step.convert(row);
            };
          } catch (MismatchException e) { // the next branch may match
            within = within == null && isAlike(from, branches.get(i)) ? e : within;
          }
        }
      }
      throw within == null ? mismatch(from, to, path) : within;
    }

    /** Whether a value needs no widening; a union's first such branch is preferred. */
    private static boolean isAlike(Schema from, Schema to) {
      return from.getType() == to.getType();
    }

    private Step ofTypes(Schema from, Schema to, String path) throws MismatchException {
      Schema.Type type = from.getType();
      if (type != to.getType()) {
        return ofScalars(from, to, path);
      }
      return switch (type) {
        case RECORD -> ofRecords(from, to, path);
        case ARRAY -> {
          if (AvroSchemas.isMap(from) != AvroSchemas.isMap(to)) {
            throw mismatch(from, to, path);
          }
          Step item = resolve(from.getElementType(), to.getElementType(), path + "[]");
          boolean empty = from.getElementType().getType() == Schema.Type.NULL;
          yield row -> convertItems(row, false, empty, item);
        }
        case MAP -> {
          Step value = resolve(from.getValueType(), to.getValueType(), path + ".value");
          yield row -> convertItems(row, true, false, value);
        }
        case ENUM -> ofSymbols(from, to, path);
        default -> ofScalars(from, to, path);
      };
    }

    private static void convertItems(RowConverter row, boolean keyed, boolean empty, Step item)
        throws BadRowException {
      row.in.enter();
      for (long count = row.in.readBlock(); count > 0; count = row.in.readBlock()) {
        row.out.putLong(count);
        for (long i = 0; i < count; i++) {
          if (keyed) {
            row.copyCounted(row.in.readLength());
          } else if (empty) {
            row.in.countEmpty();
          }
          item.convert(row);
        }
      }
      row.out.putLong(0);
      row.in.leave();
    }

    private static Step ofSymbols(Schema from, Schema to, String path) throws MismatchException {
      List<String> symbols = from.getEnumSymbols();
      int[] numbers = new int[symbols.size()];
      for (int i = 0; i < numbers.length; i++) {
        String symbol = to.hasEnumSymbol(symbols.get(i)) ? symbols.get(i) : to.getEnumDefault();
        if (symbol == null) {
          String problem = " has the symbol " + symbols.get(i);
          throw new MismatchException(
              field(path) + problem + ", which the stored schema does not have");
        }
        numbers[i] = to.getEnumOrdinal(symbol);
      }
      return row -> row.out.putLong(numbers[row.in.readIndex(numbers.length, "symbols")]);
    }

    private Step ofRecords(Schema from, Schema to, String path) throws MismatchException {
      Pair pair = new Pair(from, to);
      FieldSteps known = records.get(pair);
      if (known != null) {
        return known;
      }
      int before = records.size();
      FieldSteps steps = new FieldSteps();
      records.put(pair, steps);
      try {
        resolveFields(from, to, path, steps);
      } catch (MismatchException e) { // what was resolved since may contain this record
        new ArrayList<>(records.keySet()).subList(before, records.size()).forEach(records::remove);
        throw e;
      }
      return steps;
    }

    private void resolveFields(Schema from, Schema to, String path, FieldSteps steps)
        throws MismatchException {
      List<Schema.Field> fields = from.getFields();
      List<Schema.Field> wanted = to.getFields();
      FieldNames names = names(to, path);
      int[] places = new int[fields.size()];
      int[] sources = new int[wanted.size()];
      Arrays.fill(places, FieldSteps.NOWHERE);
      Arrays.fill(sources, FieldSteps.NOWHERE);
      List<String> columns = columns(from, to, path);
      for (int i = 0; i < places.length; i++) {
        String column = columns.get(i);
        int place = names.find(column);
        boolean own = place >= 0 && RowSchema.column(wanted.get(place)).equals(column);
        if (place >= 0 && (own || sources[place] == FieldSteps.NOWHERE)) {
          if (sources[place] != FieldSteps.NOWHERE) {
            places[sources[place]] = FieldSteps.NOWHERE; // found by an alias, but this is its name
          }
          places[i] = place;
          sources[place] = i;
        }
      }
      @Nullable Step[] found = new @Nullable Step[places.length];
      Shape[] shapes = new Shape[places.length];
      for (int i = 0; i < places.length; i++) {
        shapes[i] = Shape.of(fields.get(i).schema());
        if (places[i] != FieldSteps.NOWHERE) {
          Schema.Field field = wanted.get(places[i]);
          found[i] =
              resolve(
                  fields.get(i).schema(), field.schema(), within(path, RowSchema.column(field)));
        }
      }
      byte[][] absent = new byte[wanted.size()][];
      Arrays.fill(absent, NOTHING);
      for (int i = 0; i < absent.length; i++) {
        if (sources[i] == FieldSteps.NOWHERE) {
          absent[i] = defaultOf(wanted.get(i), path);
        }
      }
      steps.set(found, shapes, places, absent);
    }

    /** Returns the names of a record's fields as another record spells them. */
    private List<String> columns(Schema from, Schema to, String path) throws MismatchException {
      Map<String, Set<String>> ours = byAnyCase(to);
      Map<String, Set<String>> theirs = byAnyCase(from);
      List<String> columns = new ArrayList<>();
      for (Schema.Field field : from.getFields()) {
        String column = RowSchema.column(field);
        Set<String> our = ours.getOrDefault(lower(column), Set.of());
        Set<String> their = theirs.getOrDefault(lower(column), Set.of());
        if (anyCase && our.size() == 1 && their.size() == 1) {
          column = our.iterator().next();
        } else if (anyCase && !our.isEmpty() && !our.equals(their)) {
          throw new MismatchException(
              "%s and %s in the stored schema differ in case, so which are the same cannot be told"
                  .formatted(shown(path, their), shown(path, our)));
        }
        columns.add(column);
      }
      return columns;
    }

    private static Map<String, Set<String>> byAnyCase(Schema record) {
      return record.getFields().stream()
          .map(RowSchema::column)
          .collect(Collectors.groupingBy(Resolver::lower, Collectors.toCollection(TreeSet::new)));
    }

    private static String lower(String column) {
      return column.toLowerCase(Locale.ROOT);
    }

    private static String shown(String path, Set<String> columns) {
      return columns.stream()
          .map(column -> field(within(path, column)))
          .collect(Collectors.joining(", "));
    }

    private static FieldNames names(Schema record, String path) throws MismatchException {
      try {
        return new FieldNames(record);
      } catch (IllegalArgumentException twice) {
        throw new MismatchException(
            (path.isEmpty() ? "" : field(path) + ": ") + twice.getMessage());
      }
    }

    private static byte[] defaultOf(Schema.Field field, String path) throws MismatchException {
      String name = within(path, RowSchema.column(field));
      try {
        byte[] bytes = field.hasDefaultValue() ? AbsentField.of(field) : null;
        if (bytes != null) {
          return bytes;
        }
      } catch (IllegalArgumentException e) {
        throw new MismatchException(field(name) + ": " + e.getMessage());
      }
      throw new MismatchException(
          field(name) + " is missing, and the stored schema has no default for it");
    }

    private static String within(String path, String column) {
      return path.isEmpty() ? column : path + "." + column;
    }

    private static Step ofScalars(Schema from, Schema to, String path) throws MismatchException {
      if (isComplex(from) || isComplex(to)) {
        throw mismatch(from, to, path);
      }
      Shape one = Shape.of(from);
      Shape other = Shape.of(to);
      Step step =
          one.kind == other.kind
              ? ofKind(from, to, one, other)
              : widening(one.kind, other.kind, path);
      if (step == null) {
        throw mismatch(from, to, path);
      }
      return step;
    }

    private static boolean isComplex(Schema schema) {
      return switch (schema.getType()) {
        case RECORD, ARRAY, MAP, UNION, ENUM -> true;
        default -> false;
      };
    }

    private static @Nullable Step ofKind(Schema from, Schema to, Shape one, Shape other) {
      boolean same =
          switch (one.kind) {
            case TIME, TIMESTAMP, LOCAL_TIMESTAMP -> one.digits == other.digits;
            case DECIMAL -> one.scale == other.scale && one.precision <= other.precision;
            case FIXED_DECIMAL ->
                one.scale == other.scale
                    && one.precision <= other.precision
                    && one.size == other.size;
            case FIXED -> one.size == other.size;
            case STRING -> Objects.equals(logical(from), logical(to));
            default -> true;
          };
      if (!same) {
        return null;
      }
      return switch (one.kind) {
        case NULL -> row -> {};
        case BOOLEAN -> row -> row.out.put(row.in.readBoolean() ? 1 : 0);
        case INT, DATE -> row -> row.out.putLong(row.in.readInt());
        case LONG, TIME, TIMESTAMP, LOCAL_TIMESTAMP -> row -> row.out.putLong(row.in.readLong());
        case FLOAT -> row -> row.copy(Float.BYTES);
        case DOUBLE -> row -> row.copy(Double.BYTES);
        case STRING, BYTES, DECIMAL, BIG_DECIMAL -> row -> row.copyCounted(row.in.readLength());
        case FIXED, UUID, DURATION, FIXED_DECIMAL -> {
          int size = one.size;
          yield row -> row.copy(size);
        }
        default -> null;
      };
    }

    private static @Nullable String logical(Schema schema) {
      LogicalType type = schema.getLogicalType();
      return type == null ? null : type.getName();
    }

    private static @Nullable Step widening(Shape.Kind from, Shape.Kind to, String path) {
      return switch (from) {
        case INT, LONG ->
            switch (to) {
              case LONG -> row -> row.out.putLong(row.in.readLong());
              case FLOAT -> row -> row.out.putFloat((float) readExactly(row, true, path));
              case DOUBLE -> row -> row.out.putDouble(readExactly(row, false, path));
              default -> null;
            };
        case FLOAT -> to == Shape.Kind.DOUBLE ? row -> row.out.putDouble(row.in.readFloat()) : null;
        case STRING -> to == Shape.Kind.BYTES ? row -> row.copyCounted(row.in.readLength()) : null;
        case BYTES -> to == Shape.Kind.STRING ? Resolver::convertText : null;
        default -> null;
      };
    }

    /** Reads an integer as a float or double, which must be the same number. */
    private static double readExactly(RowConverter row, boolean isFloat, String path)
        throws BadRowException {
      long number = row.in.readLong();
      double nearest = isFloat ? (float) number : (double) number;
      if ((long) nearest != number || nearest == 0x1p63) { // whose cast is the largest long
        String problem = " does not fit exactly in a " + (isFloat ? "float" : "double");
        throw new BadRowException("column \"" + path + "\": " + number + problem);
      }
      return nearest;
    }

    private static void convertText(RowConverter row) throws BadRowException {
      int length = row.in.readLength();
      int at = row.copyCounted(length);
      if (!Utf8.isValid(row.in.bytes(), at, at + length)) {
        throw new BadRowException("bytes that are to be a string are not UTF-8");
      }
    }

    private static MismatchException mismatch(Schema from, Schema to, String path) {
      String types = describe(from) + ", but " + describe(to);
      return new MismatchException(field(path) + " is " + types + " in the stored schema");
    }

    private static String field(String path) {
      return "field \"" + path + "\"";
    }

    private static String describe(Schema schema) {
      return switch (schema.getType()) {
        case RECORD -> "a record";
        case ENUM -> "an enumeration";
        case ARRAY ->
            AvroSchemas.isMap(schema)
                ? "a map of pairs"
                : "a list of " + describe(schema.getElementType());
        case MAP -> "a map of " + describe(schema.getValueType());
        case UNION ->
            String.join(" or ", schema.getTypes().stream().map(Resolver::describe).toList());
        default -> described(schema);
      };
    }

    private static String described(Schema schema) {
      Shape shape = Shape.of(schema);
      String name = shape.kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
      return switch (shape.kind) {
        case DECIMAL, FIXED_DECIMAL -> name + "(" + shape.precision + "," + shape.scale + ")";
        case FIXED -> name + "(" + shape.size + ")";
        case TIME, TIMESTAMP, LOCAL_TIMESTAMP -> name + "(" + shape.digits + ")";
        case STRING -> logical(schema) == null ? name : logical(schema) + " (string)";
        default -> name;
      };
    }
  }

  /** The steps of a record, which may contain itself. */
  private static final class FieldSteps implements Step {
    static final int NOWHERE = -1;

    private @Nullable Step[] steps = {};
    private Shape[] shapes = {};
    private int[] places = {};
    private byte[][] absent = {};
    private boolean sorted;

    /**
     * Sets the steps.
     *
     * @param places for each field that is read, the one that is written, or NOWHERE
     * @param absent for each field that is written, its bytes if it is not read, else none
     */
    void set(@Nullable Step[] steps, Shape[] shapes, int[] places, byte[][] absent) {
      this.steps = steps;
      this.shapes = shapes;
      this.places = places;
      this.absent = absent;
      int last = NOWHERE;
      sorted = true;
      for (int place : places) {
        sorted &= place == NOWHERE || place > last;
        last = Math.max(last, place);
      }
    }

    @Override
    public void convert(RowConverter row) throws BadRowException {
      row.in.enter();
      if (sorted) {
        convertInPlace(row);
      } else {
        convertAndSort(row);
      }
      row.in.leave();
    }

    private void convertInPlace(RowConverter row) throws BadRowException {
      int next = 0;
      for (int i = 0; i < places.length; i++) {
        Step step = steps[i];
        if (step == null) {
          row.in.skip(shapes[i]);
          continue;
        }
        for (; next < places[i]; next++) {
          put(row.out, absent[next]);
        }
        step.convert(row);
        next++;
      }
      for (; next < absent.length; next++) {
        put(row.out, absent[next]);
      }
    }

    private void convertAndSort(RowConverter row) throws BadRowException {
      int[] starts = new int[absent.length];
      int[] ends = new int[absent.length];
      int start = row.out.length();
      for (int i = 0; i < places.length; i++) {
        Step step = steps[i];
        if (step == null) {
          row.in.skip(shapes[i]);
        } else {
          starts[places[i]] = row.out.length();
          step.convert(row);
          ends[places[i]] = row.out.length();
        }
      }
      RowBuffer fields = row.sorted;
      fields.reset();
      for (int i = 0; i < absent.length; i++) {
        put(fields, absent[i]); // one of the two is empty
        fields.put(row.out.bytes(), starts[i], ends[i] - starts[i]);
      }
      row.out.truncate(start);
      row.out.put(fields.bytes(), 0, fields.length());
    }

    private static void put(RowBuffer out, byte[] bytes) {
      out.put(bytes);
    }
  }
}
