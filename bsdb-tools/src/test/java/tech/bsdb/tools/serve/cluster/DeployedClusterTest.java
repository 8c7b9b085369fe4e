package tech.bsdb.tools.serve.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import tech.bsdb.tools.serve.cluster.Topology.ClusterNode;

/**
 * The examples in {@code deploy/cluster}: one topology, and what it says holds for both targets.
 */
class DeployedClusterTest {
  private static final Path FOLDER =
      Path.of(System.getProperty("basedir", "")).resolve("../deploy/cluster");

  private String json;
  private Topology topology;

  @BeforeEach
  void read() throws Exception {
    json = Files.readString(FOLDER.resolve("topology.json"));
    topology = TopologyReader.read(json.getBytes(UTF_8));
  }

  private static List<Map<String, Object>> documents(String file) throws IOException {
    Yaml yaml = new Yaml(new SafeConstructor(new LoaderOptions()));
    List<Map<String, Object>> documents = new ArrayList<>();
    StreamSupport.stream(
            yaml.loadAll(new StringReader(Files.readString(FOLDER.resolve(file)))).spliterator(),
            false)
        .forEach(each -> documents.add(map(each)));
    return documents;
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> map(Object value) {
    return (Map<String, Object>) value;
  }

  /** The value at a path of names and places in lists. */
  private static Object at(Object from, Object... path) {
    Object value = from;
    for (Object step : path) {
      value = step instanceof Integer place ? ((List<?>) value).get(place) : map(value).get(step);
      assertThat(value).as(List.of(path) + " at " + step).isNotNull();
    }
    return value;
  }

  private static List<String> arguments(Object list) {
    return ((List<?>) list).stream().map(String::valueOf).toList();
  }

  private static String after(String option, List<String> arguments) {
    return arguments.get(arguments.indexOf(option) + 1);
  }

  @Test
  void threeNodesHaveAReplicaEach() {
    assertThat(topology.groups()).hasSize(3);
    assertThat(topology.groups()).allSatisfy(group -> assertThat(group.replicas()).hasSize(1));
    assertThat(topology.nodes())
        .allSatisfy(node -> assertThat(node.host()).isEqualTo(node.name() + ".bsdb-cluster"));
  }

  private void agrees(List<String> arguments) {
    assertThat(arguments.get(0)).isEqualTo("serve");
    assertThat(after("--cluster", arguments)).isEqualTo("/etc/bsdb/topology.json");
    assertThat(topology.nodes())
        .allSatisfy(
            node -> {
              assertThat(after("--resp", arguments)).isEqualTo(String.valueOf(node.respPort()));
              assertThat(after("-p", arguments)).isEqualTo(String.valueOf(node.httpPort()));
            });
  }

  @Test
  void composeStartsTheNodesOfTheTopology() throws IOException {
    Map<String, Object> compose = documents("compose.yaml").get(0);
    Map<String, Object> services = map(compose.get("services"));
    assertThat(services.keySet())
        .containsExactlyInAnyOrderElementsOf(
            topology.nodes().stream().map(ClusterNode::name).toList());
    for (ClusterNode node : topology.nodes()) {
      Object service = services.get(node.name());
      assertThat(at(service, "hostname")).isEqualTo(node.name());
      assertThat(at(service, "networks", "cluster", "aliases")).isEqualTo(List.of(node.host()));
      agrees(arguments(at(service, "command")));
      assertThat(at(service, "volumes", 1, "target")).isEqualTo("/etc/bsdb");
    }
  }

  @Test
  void kubernetesStartsTheNodesOfTheTopology() throws IOException {
    List<Map<String, Object>> all = documents("statefulset.yaml");
    Object service = all.get(0);
    Object set = all.get(1);
    Object pod = at(set, "spec", "template");
    assertThat(at(service, "spec", "clusterIP")).isEqualTo("None");
    assertThat(at(service, "spec", "publishNotReadyAddresses")).isEqualTo(true);
    assertThat(at(set, "spec", "serviceName")).isEqualTo(at(service, "metadata", "name"));
    int replicas = (Integer) at(set, "spec", "replicas");
    String name = (String) at(set, "metadata", "name");
    assertThat(IntStream.range(0, replicas).mapToObj(i -> name + "-" + i))
        .containsExactlyInAnyOrderElementsOf(
            topology.nodes().stream().map(ClusterNode::name).toList());
    assertThat(topology.nodes())
        .allSatisfy(
            node ->
                assertThat(node.host())
                    .isEqualTo(node.name() + "." + at(service, "metadata", "name")));
    List<String> arguments = arguments(at(pod, "spec", "containers", 0, "args"));
    agrees(arguments);
    assertThat(Integer.parseInt(after("--handover", arguments)))
        .as("longer than a ConfigMap takes to reach all pods")
        .isGreaterThanOrEqualTo(90);
    Object labels = at(pod, "metadata", "labels");
    assertThat(at(set, "spec", "selector", "matchLabels")).isEqualTo(labels);
    assertThat(at(service, "spec", "selector")).isEqualTo(labels);
    assertThat(at(all.get(2), "spec", "selector", "matchLabels")).isEqualTo(labels);
    assertThat(documents("../kubernetes.yaml"))
        .allSatisfy(each -> assertThat(String.valueOf(each)).doesNotContain("bsdb-cluster"));
    Object generated = at(documents("kustomization.yaml").get(0), "configMapGenerator", 0);
    assertThat(at(generated, "files")).isEqualTo(List.of("topology.json"));
    assertThat(at(generated, "options", "disableNameSuffixHash")).isEqualTo(true);
    assertThat(at(pod, "spec", "volumes", 1, "configMap", "name")).isEqualTo(at(generated, "name"));
    assertThat(at(pod, "spec", "containers", 0, "volumeMounts").toString())
        .doesNotContain("subPath");
    Object claim = documents("../kubernetes.yaml").get(0);
    assertThat(at(pod, "spec", "volumes", 0, "persistentVolumeClaim", "claimName"))
        .isEqualTo(at(claim, "metadata", "name"));
  }

  /** The commands of the README that edit the file. */
  @Test
  void theEditsOfTheReadmeGiveATopology() throws Exception {
    String readme = Files.readString(FOLDER.resolve("../README.md"));
    assertThat(readme)
        .contains(
            "'s/\"0-5460\"/\"0-4095\"/; s/\"5461-10922\"/\"4096-10922\"/'",
            "'s/bsdb-0/bsdb-x/g; s/bsdb-3/bsdb-0/g; s/bsdb-x/bsdb-3/g'",
            "{\"name\": \"bsdb-6\", \"host\": \"bsdb-6.bsdb-cluster\", \"resp\": 6379, \"http\": 9999,");
    String moved =
        json.replace("\"0-5460\"", "\"0-4095\"").replace("\"5461-10922\"", "\"4096-10922\"");
    assertThat(read(moved).group(4096).primary().name()).isEqualTo("bsdb-1");
    String swapped =
        json.replace("bsdb-0", "bsdb-x").replace("bsdb-3", "bsdb-0").replace("bsdb-x", "bsdb-3");
    assertThat(read(swapped).group(0).primary().name()).isEqualTo("bsdb-3");
    int end = json.lastIndexOf(']');
    String more =
        json.substring(0, end)
            + ", {\"name\": \"bsdb-6\", \"host\": \"bsdb-6.bsdb-cluster\", \"resp\": 6379, \"http\": 9999,"
            + " \"slots\": \"\"}"
            + json.substring(end);
    assertThat(read(more).nodes()).hasSize(7);
  }

  private static Topology read(String text) throws Exception {
    return TopologyReader.read(text.getBytes(UTF_8));
  }
}
