package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import tech.bsdb.KeyRouting;
import tech.bsdb.tools.serve.cluster.Cluster.ClusterOptions;

/**
 * The nodes of a cluster in this process, on free ports: a, b and c, and, if wanted, their replicas
 * a2, b2 and c2.
 */
final class ServingCluster implements AutoCloseable {
  /** A third of the slots each. */
  static final List<String> THIRDS = List.of("0-5460", "5461-10922", "10923-16383");

  private static final List<String> PRIMARIES = List.of("a", "b", "c");

  private final Path file;
  private final boolean replicas;
  private final Map<String, Serving> nodes = new LinkedHashMap<>();

  /** Starts nodes; each is told its ports, which are free ones, by a second topology. */
  ServingCluster(Path folder, boolean replicas, Duration handover, Consumer<Serving> settings)
      throws IOException {
    this(folder, replicas, handover, Map.of(), settings);
  }

  /**
   * Starts nodes.
   *
   * @param directories the data of each node; of others, {@code folder/db}
   */
  ServingCluster(
      Path folder,
      boolean replicas,
      Duration handover,
      Map<String, Path> directories,
      Consumer<Serving> settings)
      throws IOException {
    this.file = folder.resolve("topology.json");
    this.replicas = replicas;
    write(THIRDS);
    try {
      for (String name : names()) {
        Path directory = directories.getOrDefault(name, folder.resolve("db"));
        Serving node = new Serving(directory);
        node.resp = true;
        node.cluster = new ClusterOptions(file, name, handover);
        settings.accept(node);
        nodes.put(name, node.start());
      }
      move(THIRDS);
    } catch (IOException | RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private List<String> names() {
    List<String> names = new ArrayList<>(PRIMARIES);
    if (replicas) {
      PRIMARIES.forEach(name -> names.add(name + "2"));
    }
    return names;
  }

  Serving node(String name) {
    Serving node = nodes.get(name);
    if (node == null) {
      throw new IllegalArgumentException(name);
    }
    return node;
  }

  List<Serving> all() {
    return List.copyOf(nodes.values());
  }

  RespWire connect(String name) throws IOException {
    return RespWire.to(node(name).respPort());
  }

  /** The name of the primary with a slot in {@link #THIRDS}. */
  static String owner(String key) {
    int slot = KeyRouting.slot(key.getBytes(UTF_8));
    return slot <= 5460 ? "a" : slot <= 10_922 ? "b" : "c";
  }

  /** Writes a topology in which a, b and c have these slots; each node finds it by itself. */
  void write(List<String> slots) throws IOException {
    List<String> primaries = new ArrayList<>();
    for (int i = 0; i < PRIMARIES.size(); i++) {
      String name = PRIMARIES.get(i);
      String more = replicas ? ",\"replicas\":[{" + fields(name + "2", 10 + i) + "}]" : "";
      primaries.add("{" + fields(name, i) + ",\"slots\":\"" + slots.get(i) + "\"" + more + "}");
    }
    writeText("{\"nodes\":[" + String.join(",\n", primaries) + "]}\n");
  }

  private String fields(String name, int number) {
    Serving node = nodes.get(name);
    return "\"name\":\"%s\",\"host\":\"127.0.0.1\",\"resp\":%d,\"http\":%d"
        .formatted(
            name,
            node == null ? 1 + number : node.respPort(),
            node == null ? 101 + number : node.port());
  }

  void writeText(String topology) throws IOException {
    Path next = Files.writeString(file.resolveSibling("topology.next"), topology);
    Files.move(next, file, REPLACE_EXISTING);
  }

  /** Writes a topology, and lets each node take it before this returns. */
  void move(List<String> slots) throws IOException {
    write(slots);
    all().forEach(Serving::reloadFiles);
  }

  @Override
  public void close() {
    nodes.values().forEach(Serving::close);
  }
}
