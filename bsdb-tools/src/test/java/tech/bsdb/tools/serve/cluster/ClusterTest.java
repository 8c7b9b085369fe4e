package tech.bsdb.tools.serve.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.KeyRouting;
import tech.bsdb.tools.serve.cluster.Cluster.ClusterOptions;
import tech.bsdb.tools.serve.cluster.Cluster.ElsewhereException;
import tech.bsdb.tools.serve.cluster.Topology.ClusterNode;
import tech.bsdb.tools.serve.cluster.Topology.ReplicaGroup;

/** The topology of a cluster: its file, what is refused, and slots that are handed over. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClusterTest {
  /** So long that a test sees no end of it. */
  private static final Duration LONG = Duration.ofHours(1);

  @TempDir Path folder;
  private Path file;
  private final BlockingQueue<String> said = new LinkedBlockingQueue<>();
  private @Nullable String lacking;

  @BeforeEach
  void name() {
    file = folder.resolve("topology.json");
  }

  private static String node(String name, int port, String more) {
    return "{\"name\":\"%s\",\"host\":\"10.0.0.1\",\"resp\":%d,\"http\":%d%s}"
        .formatted(name, port, port + 1000, more);
  }

  private static String slots(String slots) {
    return ",\"slots\":\"" + slots + "\"";
  }

  private static String nodes(String... nodes) {
    return "{\"nodes\":[" + String.join(",\n", nodes) + "]}";
  }

  /** Three nodes, a with a replica. */
  private static String three(String a, String b, String c) {
    return nodes(
        node("a", 1, slots(a) + ",\"replicas\":[" + node("a2", 2, "") + "]"),
        node("b", 3, slots(b)),
        node("c", 4, slots(c)));
  }

  private void write(String json) throws IOException {
    Path next = folder.resolve("next");
    Files.writeString(next, json);
    Files.move(next, file, REPLACE_EXISTING);
  }

  private Cluster join(String node, Duration handover) throws IOException {
    return new Cluster(
        new ClusterOptions(file, node, handover),
        (view, gained) -> gained.isEmpty() ? null : lacking,
        said::add);
  }

  @Test
  void aTopologyIsReadAsItIsWritten() throws IOException {
    write(three("0-99,16383", "100-8191", "8192-16382"));
    Cluster cluster = join("a2", LONG);
    ClusterView view = cluster.view();
    assertThat(view.self()).isEqualTo(new ClusterNode("a2", "10.0.0.1", 2, 1002));
    assertThat(view.isReplica()).isTrue();
    assertThat(view.slots()).hasToString("0-99,16383");
    assertThat(view.topology().nodes())
        .extracting(ClusterNode::name)
        .containsExactly("a", "a2", "b", "c");
    assertThat(view.topology().group(16_383).primary().name()).isEqualTo("a");
    assertThat(view.topology().group(100).primary().name()).isEqualTo("b");
    assertThat(view.answers(5, false)).isFalse();
    assertThat(view.answers(5, true)).isTrue();
    assertThat(view.answers(100, true)).isFalse();
    assertThat(view.self().id()).hasSize(40).matches("[0-9a-f]+");
    Cluster other = join("b", LONG);
    assertThat(other.view().isReplica()).isFalse();
    assertThat(other.view().answers(100, false)).isTrue();
    byte[] key = "--foo--".getBytes(UTF_8); // foo has slot 12182, which is c's
    assertThatExceptionOfType(ElsewhereException.class)
        .isThrownBy(() -> other.requireHere(key, 2, 3))
        .satisfies(e -> assertThat(e.slot()).isEqualTo(12_182))
        .satisfies(e -> assertThat(e.owner().name()).isEqualTo("c"));
  }

  /** Nodes that look at the file all the time do not bring back what they read just before. */
  @Test
  void whatWasTakenStaysWhileTheFileIsLookedAt() throws IOException {
    write(three("0-99", "100-8191", "8192-16383"));
    List<Cluster> nodes = new ArrayList<>();
    ScheduledExecutorService looks = Executors.newScheduledThreadPool(4);
    try {
      for (int i = 0; i < 40; i++) {
        Cluster node = join("a", LONG);
        nodes.add(node);
        var unused = looks.scheduleWithFixedDelay(node::look, 1, 1, TimeUnit.MILLISECONDS);
      }
      int rounds = 100;
      for (int round = 0; round < rounds; round++) {
        write(three("0-" + (round + 100), (round + 101) + "-8191", "8192-16383"));
        for (Cluster node : nodes) {
          boolean unused = node.refresh(); // or it took it already
        }
      }
      assertThat(nodes).extracting(Cluster::changes).containsOnly((long) rounds);
    } finally {
      looks.shutdownNow();
    }
  }

  static List<List<String>> wrong() {
    String all = slots("0-16383");
    return List.of(
        List.of("", "expected an object"),
        List.of("[]", "expected an object"),
        List.of("{\"nodes\":\n[", "line 2: the JSON ends too early"),
        List.of("{\"nodes\":[]}", "there are no nodes"),
        List.of("{}", "there are no nodes"),
        List.of("{\"nodes\":{}}", "\"nodes\" must be a list"),
        List.of("{\"nodes\":[1]}", "each element of \"nodes\" must be an object"),
        List.of("{\"node\":[]}", "\"node\" is unknown"),
        List.of("{\"nodes\":[],\"nodes\":[]}", "Duplicate field 'nodes'"),
        List.of(nodes(node("a", 1, all)) + "x", "Unrecognized token 'x'"),
        List.of(nodes(node("a", 1, all)) + "{}", "something follows the object"),
        List.of(nodes(node("a", 1, "")), "node a has no \"slots\""),
        List.of(nodes(node("a", 1, slots("0-16382"))), "slot 16383 belongs to no node"),
        List.of(three("0-99", "100-199", "210-16383"), "slots 200-209 belong to no node"),
        List.of(three("0-99", "50-199", "200-16383"), "slots 50-99 belong to a and to b"),
        List.of(three("0-99", "100-16383", "16383"), "slot 16383 belongs to b and to c"),
        List.of(three("0-16384", "", ""), "0-16384: a range goes up"),
        List.of(three("all", "", ""), "slots are numbers and ranges"),
        List.of(nodes(node("a", 1, all), node("a", 2, slots(""))), "two nodes have the name a"),
        List.of(nodes(node("a", 1, all), node("b", 1, slots(""))), "a and b have the same address"),
        List.of(nodes(node("a", 0, all)), "\"resp\" must be a port"),
        List.of(nodes(node("a", 70_000, all)), "\"resp\" must be a port"),
        List.of(nodes(node("a b", 1, all)), "\"name\" must be letters"),
        List.of(nodes(node("a", 1, all + ",\"port\":5")), "\"port\" is unknown"),
        List.of(nodes(node("a", 1, ",\"slots\":5")), "\"slots\" must be a string"),
        List.of(
            nodes(node("a", 1, all + ",\"replicas\":[" + node("r", 5, slots("1")) + "]")),
            "\"slots\" is unknown"),
        List.of("{\"nodes\":[{\"host\":\"h\",\"resp\":1,\"slots\":\"\"}]}", "has no \"name\""),
        List.of("{\"nodes\":[{\"name\":\"a\",\"resp\":1,\"slots\":\"\"}]}", "has no \"host\""),
        List.of("{\"nodes\":[{\"name\":\"a\",\"host\":\"h\",\"slots\":\"\"}]}", "has no port"),
        List.of(
            "{\"nodes\":[{\"name\":\"a\",\"host\":\"h\",\"resp\":1,\"http\":1,\"slots\":\"\"}]}",
            "a has the same port twice"),
        List.of(
            "{\"nodes\":[{\"name\":\"a\",\"host\":\"10.0.0.1:6379\",\"resp\":1,\"slots\":\"\"}]}",
            "\"host\" must be a host name or an address, without a port"),
        List.of(
            "{\"nodes\":[{\"name\":\"a\",\"host\":\"fe80::1%eth0\",\"resp\":1,\"slots\":\"\"}]}",
            "\"host\" must be a host name or an address, without a port"),
        List.of(
            "{\"nodes\":[{\"name\":\"a\",\"host\":\"h:1/\",\"resp\":1,\"slots\":\"\"}]}",
            "\"host\" must be a host name or an address"),
        List.of(nodes(node("b", 1, all)), "no node has the name a; the nodes are b"));
  }

  @Test
  void eachWrongFileGetsASecondLook() throws IOException {
    String right = three("0-99", "100-199", "200-16383");
    write(right);
    Cluster cluster = join("a", LONG);
    for (int i = 0; i < 3; i++) {
      write("");
      assertThatIOException().isThrownBy(() -> cluster.refresh(true));
      assertThat(cluster.refused()).isNull();
      write(right);
      assertThat(cluster.refresh(true)).isFalse();
    }
    write("");
    assertThatIOException().isThrownBy(() -> cluster.refresh(true));
    assertThatIOException().isThrownBy(() -> cluster.refresh(true));
    assertThat(cluster.refused()).isNotNull();
  }

  @ParameterizedTest
  @MethodSource("wrong")
  void aWrongFileIsNamedAndChangesNothing(List<String> wrong) throws IOException {
    write(wrong.get(0));
    assertThatIOException()
        .isThrownBy(() -> join("a", LONG))
        .withMessageStartingWith(file.toString())
        .withMessageContaining(wrong.get(1));
    String right = three("0-99", "100-199", "200-16383");
    write(right);
    Cluster cluster = join("a", LONG);
    ClusterView before = cluster.view();
    write(wrong.get(0));
    for (int i = 0; i < 2; i++) {
      assertThatIOException()
          .isThrownBy(cluster::refresh)
          .withMessageStartingWith(file.toString())
          .withMessageContaining(wrong.get(1));
      assertThat(cluster.view()).isSameAs(before);
      assertThat(cluster.refused()).isNotNull();
    }
    assertThat(said).as("the same reason is told once").hasSize(1);
    assertThat(said.poll()).contains(wrong.get(1));
    write(right);
    assertThat(cluster.refresh()).isFalse();
    assertThat(cluster.refused()).isNull();
    assertThat(cluster.changes()).isZero();
  }

  @Test
  void aFileThatCannotBeReadIsNamed() throws IOException {
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> join("a", LONG))
        .withMessage(file.toString());
    Files.createDirectory(file);
    assertThatIOException()
        .isThrownBy(() -> join("a", LONG))
        .withMessageContaining("is no regular file");
    Files.delete(file);
    Files.write(file, new byte[(1 << 20) + 1]);
    assertThatIOException().isThrownBy(() -> join("a", LONG)).withMessageContaining("too large");
  }

  @Test
  void aTopologyThatTheServerCannotServeIsRefusedAndTriedAgain() throws IOException {
    write(three("0-99", "100-199", "200-16383"));
    Cluster cluster = join("a", LONG);
    lacking = "no data";
    write(three("0-149", "150-199", "200-16383"));
    assertThatIOException().isThrownBy(cluster::refresh).withMessage(file + ": no data");
    assertThat(cluster.view().slots()).hasToString("0-99");
    lacking = null; // the data has come
    assertThat(cluster.refresh()).isTrue();
    assertThat(cluster.view().slots()).hasToString("0-149");
    lacking = "no data";
    assertThatIOException().isThrownBy(() -> join("a", LONG)).withMessage(file + ": no data");
  }

  @Test
  void slotsThatAreLostAreAnsweredForAWhile() throws IOException {
    write(three("0-99", "100-199", "200-16383"));
    Cluster a = join("a", LONG);
    Cluster a2 = join("a2", LONG);
    Cluster b = join("b", Duration.ZERO);
    write(three("50-99", "0-49,150-199", "100-149,200-16383"));
    for (Cluster each : List.of(a, a2, b)) {
      assertThat(each.refresh()).isTrue();
      assertThat(each.refresh()).as("the file is the same").isFalse();
      assertThat(each.changes()).isEqualTo(1);
    }
    assertThat(a.view().answers(0, false)).isTrue();
    assertThat(a.view().answers(0, true)).isTrue();
    assertThat(a.view().handedOver()).hasToString("0-49");
    assertThat(a.view().slots()).hasToString("50-99");
    assertThat(a.view().topology().group(0).primary().name()).isEqualTo("b");
    assertThat(a2.view().answers(0, false)).as("a replica").isFalse();
    assertThat(a2.view().answers(0, true)).isTrue();
    assertThat(b.view().answers(0, false)).isTrue();
    assertThat(b.view().answers(120, true)).as("without a handover").isFalse();
    write(three("0-199", "", "200-16383")); // back, before the handover has ended
    assertThat(a.refresh()).isTrue();
    assertThat(a.view().handedOver()).hasToString("");
    assertThat(a.view().answers(10, false)).isTrue();
  }

  @Test
  void aNodeMayLoseSlotsThatItsDataLacks() throws IOException {
    write(three("0-99", "100-199", "200-16383"));
    Cluster cluster = join("a", Duration.ZERO);
    lacking = "no data"; // since a version was swapped
    write(three("50-99", "0-49,100-199", "200-16383"));
    assertThat(cluster.refresh()).isTrue();
    assertThat(cluster.view().slots()).hasToString("50-99");
  }

  @Test
  void wrongValuesAreShownInPart() throws IOException {
    for (String wrong :
        List.of(
            nodes(node("x".repeat(900_000), 1, slots("0-16383"))),
            nodes(node("a", 1, slots("x".repeat(900_000)))),
            nodes(node("a", 1, ",\"" + "x".repeat(40_000) + "\":1")))) {
      write(wrong);
      assertThatIOException()
          .isThrownBy(() -> join("a", LONG))
          .satisfies(e -> assertThat(e.getMessage()).contains("...").hasSizeLessThan(700));
    }
  }

  @Test
  void anAddressInIpv6HasNoPort() throws IOException {
    write(
        "{\"nodes\":[{\"name\":\"a\",\"host\":\"2001:db8::1\",\"resp\":1,\"http\":2,\"slots\":\"0-16383\"}]}");
    Cluster cluster = join("a", LONG);
    assertThat(cluster.view().self().respAddress()).isEqualTo("2001:db8::1:1");
    assertThat(cluster.view().self().httpAuthority()).isEqualTo("[2001:db8::1]:2");
  }

  @Test
  void aHandoverEnds() {
    ClusterView before = view("0-99", "100-16383");
    Topology next = topology("0-49", "50-16383");
    ClusterView after = before.next(next, 1_000, 2_000);
    assertThat(after.answers(70, false)).isTrue();
    assertThat(after.at(1_999)).isSameAs(after);
    assertThat(after.at(2_000).answers(70, false)).isFalse();
    assertThat(after.at(2_000).answers(49, false)).isTrue();
    Topology third = topology("0-9", "10-16383");
    ClusterView last = after.next(third, 1_500, 2_500);
    assertThat(last.handedOver()).hasToString("10-99");
    assertThat(last.at(2_100).handedOver()).as("each has its own end").hasToString("10-49");
    assertThat(last.at(2_500).handedOver()).hasToString("");
  }

  @Test
  void aPrimaryThatBecomesAReplicaAnswersForAWhile() {
    ClusterView before = view("0-99", "100-16383");
    ReplicaGroup swapped =
        new ReplicaGroup(
            new ClusterNode("a2", "h", 5, -1), SlotSet.parse("0-99"), List.of(before.self()));
    Topology next = Topology.of(List.of(swapped, before.topology().groups().get(1)));
    ClusterView after = before.next(next, 0, 10);
    assertThat(after.isReplica()).isTrue();
    assertThat(after.handedOver()).hasToString("0-99");
    assertThat(after.at(10).handedOver()).hasToString("");
    assertThat(after.answers(5, false)).isTrue();
    assertThat(after.at(10).answers(5, false)).isFalse();
    assertThat(after.at(10).answers(5, true)).isTrue();
  }

  private static Topology topology(String a, String b) {
    return Topology.of(
        List.of(
            new ReplicaGroup(new ClusterNode("a", "h", 1, -1), SlotSet.parse(a), List.of()),
            new ReplicaGroup(new ClusterNode("b", "h", 2, -1), SlotSet.parse(b), List.of())));
  }

  private static ClusterView view(String a, String b) {
    return new ClusterView(topology(a, b), "a", List.of());
  }

  @Test
  void anotherFileIsNoticed() throws IOException {
    write(three("0-99", "100-199", "200-16383"));
    Cluster cluster = join("a", LONG);
    write(three("0-49", "50-199", "200-16383"));
    lookTwice(cluster);
    assertThat(said.poll()).contains("a, is a primary with slots 0-49", "still answered: 50-99");
    write("{");
    lookTwice(cluster);
    assertThat(said.poll()).contains("stays as it is", "ends too early");
    assertThat(cluster.refused()).isNotNull();
    Files.delete(file);
    lookTwice(cluster);
    assertThat(said.poll()).contains(file + ": no such file or directory");
    write(three("0-99", "100-199", "200-16383"));
    lookTwice(cluster);
    assertThat(said.poll()).contains("slots 0-99", "new: 50-99");
    assertThat(cluster.refused()).isNull();
    assertThat(said).isEmpty();
  }

  private static void lookTwice(Cluster cluster) {
    cluster.look(); // a wrong file gets a second look
    cluster.look();
  }

  @Test
  void everySlotMayHaveANodeOfItsOwn() throws IOException {
    String[] nodes = new String[KeyRouting.SLOTS];
    for (int i = 0; i < nodes.length; i++) {
      nodes[i] =
          "{\"name\":\"%d\",\"host\":\"h%d\",\"resp\":1,\"slots\":\"%d\"}".formatted(i, i, i);
    }
    write(nodes(nodes));
    Cluster cluster = join("777", LONG);
    assertThat(cluster.view().slots()).hasToString("777");
    assertThat(cluster.view().topology().group(5).primary().host()).isEqualTo("h5");
  }
}
