package tech.bsdb.tools.parquet;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroup;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type;
import org.apache.parquet.schema.Type.Repetition;
import org.apache.parquet.schema.Types;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.tools.SeedInFailure;
import tech.bsdb.tools.input.InputListener;
import tech.bsdb.tools.input.InputOptions.OnBadLine;
import tech.bsdb.tools.rows.RowForm;
import tech.bsdb.tools.rows.RowJson;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.tools.source.FileSources;
import tech.bsdb.tools.table.TableOptions;
import tech.bsdb.tools.table.TableRecords;
import tech.bsdb.tools.text.JsonBuffer;
import tech.bsdb.tools.where.Where;

/**
 * Random schemas of structs, lists and maps in each other, in all forms that writers have used for
 * them, with random rows: what comes out is what a model says that does not know of levels.
 */
@ExtendWith(SeedInFailure.class)
class NestedRowsTest {
  private static final int ROWS = 60;

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
  void rowsAreWhatTheModelSays(int round) throws Exception {
    long seed = SeedInFailure.SEED + round;
    Random random = new Random(seed);
    List<Node> nodes = new ArrayList<>();
    List<Type> fields = new ArrayList<>();
    fields.add(Types.required(PrimitiveTypeName.INT32).named("k"));
    for (int i = 0; i < 4; i++) {
      nodes.add(node("c" + i, random, 3, true));
      fields.add(nodes.get(i).type());
    }
    MessageType schema = new MessageType("rows", fields);
    List<Group> rows = new ArrayList<>();
    List<String> expected = new ArrayList<>();
    boolean filtered = round % 2 == 0;
    StringBuilder wanted = new StringBuilder("k IN (-1");
    for (int k = 0; k < ROWS; k++) {
      SimpleGroup row = new SimpleGroup(schema);
      row.add("k", k);
      StringBuilder json = new StringBuilder("{\"k\":" + k);
      for (Node node : nodes) {
        json.append(",\"").append(node.type().getName()).append("\":");
        json.append(node.fill(row, random));
      }
      rows.add(row);
      if (!filtered || random.nextBoolean()) {
        wanted.append(", ").append(k);
        expected.add(json.append('}').toString());
      }
    }
    Path file = Written.file(folder.resolve("rows.parquet"), schema, rows, random.nextBoolean());

    TableOptions options =
        new TableOptions(
            List.of(file.toString()),
            List.of("k"),
            null,
            List.of(),
            null,
            false,
            OnBadLine.FAIL,
            null,
            false,
            Integer.MAX_VALUE,
            2,
            TableOptions.Partitions.INFER,
            null,
            null,
            TableOptions.Types.DEFAULT,
            filtered ? Where.parse(wanted + ")") : null);
    List<String> found = new ArrayList<>();
    try (TableRecords records =
        ParquetRecords.open(options, FileSources.open(FileSourceOptions.local()))) {
      RowJson json = new RowJson(RowForm.of(records.schema()));
      JsonBuffer line = new JsonBuffer();
      records.forEach(
          (key, keyFrom, keyLength, value, valueFrom, valueLength) -> {
            line.reset();
            try {
              json.write(value, valueFrom, valueLength, line);
            } catch (Exception e) {
              throw new AssertionError(e);
            }
            found.add(new String(line.copy(), UTF_8));
          },
          InputListener.NONE);
    }
    assertThat(found).as(schema.toString()).isEqualTo(expected);
  }

  /** A field, and how to fill it and say what is in it. */
  private interface Node {
    Type type();

    /** Adds the field's value, or values, to the group; gives its JSON. */
    String fill(Group parent, Random random);
  }

  private static Node node(String name, Random random, int depth, boolean mayRepeat) {
    Repetition repetition = random.nextBoolean() ? Repetition.OPTIONAL : Repetition.REQUIRED;
    if (mayRepeat && random.nextInt(6) == 0) {
      return repeated(node(name, random, depth - 1, Repetition.REPEATED));
    }
    return node(name, random, depth, repetition);
  }

  private static Node node(String name, Random random, int depth, Repetition repetition) {
    int kind = depth <= 0 ? 0 : random.nextInt(5);
    Node node =
        switch (kind) {
          case 1 -> struct(name, random, depth, repetition);
          case 2, 3 -> list(name, random, depth, repetition);
          case 4 -> map(name, random, depth, repetition);
          default -> leaf(name, random, repetition);
        };
    return repetition == Repetition.OPTIONAL ? optional(node) : node;
  }

  /** Any number of values right in the group. */
  private static Node repeated(Node one) {
    return new Made(
        one.type(),
        (parent, random) -> {
          List<String> items = new ArrayList<>();
          for (int i = random.nextInt(4); i > 0; i--) {
            items.add(one.fill(parent, random));
          }
          return "[" + String.join(",", items) + "]";
        });
  }

  private static Node optional(Node node) {
    return new Made(
        node.type(),
        (parent, random) -> random.nextInt(3) == 0 ? "null" : node.fill(parent, random));
  }

  private static Node leaf(String name, Random random, Repetition repetition) {
    PrimitiveTypeName primitive =
        new PrimitiveTypeName[] {
              PrimitiveTypeName.INT32, PrimitiveTypeName.INT64, PrimitiveTypeName.BINARY
            }
            [random.nextInt(3)];
    boolean text = primitive == PrimitiveTypeName.BINARY;
    PrimitiveType type =
        text
            ? Types.primitive(primitive, repetition)
                .as(LogicalTypeAnnotation.stringType())
                .named(name)
            : Types.primitive(primitive, repetition).named(name);
    return new Made(
        type,
        (parent, values) -> {
          int number = values.nextInt(-100, 100);
          switch (primitive) {
            case INT32 -> parent.add(name, number);
            case INT64 -> parent.add(name, (long) number);
            default -> parent.add(name, "t" + number);
          }
          return text ? "\"t" + number + "\"" : String.valueOf(number);
        });
  }

  private static Node struct(String name, Random random, int depth, Repetition repetition) {
    List<Node> parts = new ArrayList<>();
    for (int i = 0; i <= random.nextInt(3); i++) {
      parts.add(node("f" + i, random, depth - 1, true));
    }
    GroupType type = new GroupType(repetition, name, parts.stream().map(Node::type).toList());
    return new Made(
        type,
        (parent, values) -> {
          Group group = parent.addGroup(name);
          List<String> members = new ArrayList<>();
          for (Node part : parts) {
            members.add("\"" + part.type().getName() + "\":" + part.fill(group, values));
          }
          return "{" + String.join(",", members) + "}";
        });
  }

  /** With a level of its own for the elements, under several names, or without it. */
  private static Node list(String name, Random random, int depth, Repetition repetition) {
    int form = random.nextInt(4);
    Node element =
        switch (form) {
          case 0 -> node("array", random, 0, Repetition.REPEATED);
          case 1 -> struct("array", random, depth - 1, Repetition.REPEATED);
          case 2 -> node("element", random, depth - 1, false);
          default -> node("item", random, depth - 1, false);
        };
    String level = form == 2 ? "list" : "bag";
    Type repeated =
        form < 2 ? element.type() : new GroupType(Repetition.REPEATED, level, element.type());
    GroupType type =
        Types.buildGroup(repetition)
            .as(LogicalTypeAnnotation.listType())
            .addField(repeated)
            .named(name);
    return new Made(
        type,
        (parent, values) -> {
          Group list = parent.addGroup(name);
          List<String> items = new ArrayList<>();
          for (int i = values.nextInt(4); i > 0; i--) {
            items.add(element.fill(form < 2 ? list : list.addGroup(level), values));
          }
          return "[" + String.join(",", items) + "]";
        });
  }

  private static Node map(String name, Random random, int depth, Repetition repetition) {
    boolean text = random.nextBoolean();
    Type key =
        text
            ? Types.required(PrimitiveTypeName.BINARY)
                .as(LogicalTypeAnnotation.stringType())
                .named("key")
            : Types.primitive(
                    PrimitiveTypeName.INT32,
                    random.nextBoolean() ? Repetition.REQUIRED : Repetition.OPTIONAL)
                .named("key");
    Node value = node("value", random, depth - 1, false);
    GroupType entries = new GroupType(Repetition.REPEATED, "key_value", key, value.type());
    GroupType type =
        Types.buildGroup(repetition)
            .as(LogicalTypeAnnotation.mapType())
            .addField(entries)
            .named(name);
    return new Made(
        type,
        (parent, values) -> {
          Group map = parent.addGroup(name);
          List<String> items = new ArrayList<>();
          int count = values.nextInt(4);
          for (int i = 0; i < count; i++) {
            Group entry = map.addGroup("key_value");
            if (text) {
              entry.add("key", "k" + i);
              items.add("\"k" + i + "\":" + value.fill(entry, values));
            } else {
              entry.add("key", i);
              items.add("{\"key\":" + i + ",\"value\":" + value.fill(entry, values) + "}");
            }
          }
          String all = String.join(",", items);
          return text ? "{" + all + "}" : "[" + all + "]";
        });
  }

  /** Fills a field. */
  private interface Filler {
    String fill(Group parent, Random random);
  }

  private record Made(Type type, Filler filler) implements Node {
    @Override
    public String fill(Group parent, Random random) {
      return filler.fill(parent, random);
    }
  }
}
