package tech.bsdb.lake;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.github.luben.zstd.ZstdInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import tech.bsdb.tools.ParquetBuilder;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.inspect.ScanCommand;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.tools.table.Table;
import tech.bsdb.tools.table.TableRequest;
import tech.bsdb.tools.table.TableSource;

/**
 * The tables that {@code make-lakes.py} made, unpacked in a folder, and what is built from them.
 */
final class Lakes {
  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .enable(DeserializationFeature.USE_BIG_INTEGER_FOR_INTS)
          .build();

  private final Path folder;

  private Lakes(Path folder) {
    this.folder = folder;
  }

  /** Output and exit code of a command. */
  record Run(int code, String out, String err) {}

  /** Unpacks the tables whose names begin with a text, and their rows. */
  static Lakes unpack(Path folder, String prefix) throws IOException {
    try (InputStream packed = Lakes.class.getResourceAsStream("/lakes/lakes.zip.zst");
        ZipInputStream zip = new ZipInputStream(new ZstdInputStream(packed))) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        if (entry.getName().startsWith(prefix)) {
          Path file = folder.resolve("lake").resolve(entry.getName());
          Files.createDirectories(file.getParent());
          Files.write(file, zip.readAllBytes());
        }
      }
    }
    return new Lakes(folder);
  }

  /** Returns a table's directory, or a file in it. */
  Path path(String name) {
    return folder.resolve("lake").resolve(name);
  }

  /** Returns a table as its metadata names it: Iceberg's has absolute paths. */
  String input(String name) {
    return name.startsWith("iceberg") ? "viewfs://lakes/t/" + name : path(name).toString();
  }

  /** Builds a database from a table. */
  Run build(String table, String... options) {
    List<String> line = new ArrayList<>(List.of("-i", input(table), "-kf", "id"));
    line.addAll(List.of("--format", table.replaceFirst("_.*", "")));
    line.addAll(List.of(options));
    return buildFrom(line.toArray(String[]::new));
  }

  /** Builds a database. */
  Run buildFrom(String... options) {
    List<String> line = new ArrayList<>(List.of(options));
    line.addAll(List.of("-o", database().toString(), "--overwrite"));
    mount().forEach((name, value) -> line.addAll(List.of("--hadoop-set", name + "=" + value)));
    return run(new ParquetBuilder(), line);
  }

  private Map<String, String> mount() {
    return Map.of(
        "fs.viewfs.mounttable.lakes.link./t",
        folder.resolve("lake").toUri().toString(),
        "fs.viewfs.impl.disable.cache", // other mounts
        "true");
  }

  /** Opens a table. */
  Table open(String table) throws IOException {
    return TableSource.of(table.replaceFirst("_.*", ""))
        .open(
            new TableRequest(
                Builds.options(input(table)),
                new FileSourceOptions(null, null, mount(), null, null),
                null));
  }

  Path database() {
    return folder.resolve("db");
  }

  /** Returns the rows of the database that was built last, sorted by id. */
  List<JsonNode> rows() throws IOException {
    Run scan = run(new ScanCommand(), List.of("-d", database().toString(), "--json"));
    assertThat(scan.code()).as(scan.err()).isZero();
    List<JsonNode> rows = new ArrayList<>();
    for (String line : scan.out().lines().toList()) {
      rows.add(plain(JSON.readTree(line).get("value")));
    }
    return sorted(rows);
  }

  /** Returns the names of the files of the database, which have its content's hash. */
  List<String> hashes() throws IOException {
    try (Stream<Path> files = Files.list(database())) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  /** Returns the rows that the writer's engine read. */
  List<JsonNode> expected(String name) throws IOException {
    List<JsonNode> rows = new ArrayList<>();
    for (String line : Files.readAllLines(path(name + ".jsonl"))) {
      rows.add(plain(JSON.readTree(line)));
    }
    return sorted(rows);
  }

  private static List<JsonNode> sorted(List<JsonNode> rows) {
    rows.sort(Comparator.comparing(row -> new BigDecimal(row.get("id").textValue())));
    return rows;
  }

  /** Returns a value without zeros at the end of numbers and times, which mean nothing. */
  private static JsonNode plain(JsonNode node) {
    if (node instanceof ObjectNode object) {
      ObjectNode plain = JSON.createObjectNode();
      for (String name : new TreeSet<>(fields(object))) {
        plain.set(name, plain(object.get(name)));
      }
      return plain;
    }
    if (node instanceof ArrayNode array) {
      ArrayNode plain = JSON.createArrayNode();
      array.forEach(each -> plain.add(plain(each)));
      return plain;
    }
    if (node.isNumber()) {
      BigDecimal number = node.decimalValue();
      return JSON.getNodeFactory()
          .textNode(number.signum() == 0 ? "0" : number.stripTrailingZeros().toPlainString());
    }
    return node.isTextual() && node.textValue().matches("\\d{4}-\\d\\d-\\d\\dT.*")
        ? JSON.getNodeFactory()
            .textNode(
                node.textValue()
                    .replaceFirst("(:\\d\\d)(\\.\\d*?)0*(Z?)$", "$1$2$3")
                    .replaceFirst("\\.(Z?)$", "$1"))
        : node;
  }

  private static List<String> fields(ObjectNode object) {
    List<String> names = new ArrayList<>();
    object.fieldNames().forEachRemaining(names::add);
    return names;
  }

  /** Returns the files below a table with a suffix. */
  List<Path> files(String table, String suffix) throws IOException {
    try (Stream<Path> all = Files.walk(path(table))) {
      return all.filter(file -> file.toString().endsWith(suffix)).sorted().toList();
    }
  }

  private static Run run(Command command, List<String> line) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Console console = new Console(InputStream.nullInputStream(), out, err, false);
    try {
      int code = command.run(line, console);
      console.out().flush();
      return new Run(code, out.toString(UTF_8), err.toString(UTF_8));
    } catch (InputException | UsageException refused) { // the program prints it
      return new Run(2, out.toString(UTF_8), refused.getMessage());
    } catch (Exception bug) {
      throw new AssertionError(bug);
    }
  }
}
