package tech.bsdb.tools.publish;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Database;
import tech.bsdb.Rounds;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.store.Pointer;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.tools.source.FaultyStore;
import tech.bsdb.transfer.Consignment;

/** Databases sent to an object store that fails, and to a local directory. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PushTest {
  private static final String STORE = "faulty://store/users";

  @TempDir Path folder;

  @BeforeEach
  void empty() {
    FaultyStore.reset();
  }

  private static String lines(String word, int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> "key-" + i + " " + word + i)
        .collect(Collectors.joining("\n", "", "\n"));
  }

  private Path build(String word, String... options) throws IOException {
    Path input = Files.writeString(folder.resolve(word + ".txt"), lines(word, 300));
    Path target = folder.resolve(word);
    List<String> line =
        new ArrayList<>(List.of("build", "-i", input.toString(), "-o", target.toString(), "-q"));
    line.addAll(List.of(options));
    CommandRun run = bsdb(line.toArray(String[]::new));
    assertThat(run.code()).as(run.toString()).isZero();
    return target;
  }

  private record Result(String version, long sent, int kept, List<String> repaired, int retries) {}

  private static Result push(Path database, String version, int keep) throws IOException {
    return pushAs(database, new Push.Manner(version, false, 1, List.of(1L, 1L), null), keep);
  }

  private static Result pushAs(Path database, Push.Manner manner, int keep) throws IOException {
    AtomicInteger retries = new AtomicInteger();
    Push.Follower follower =
        new Push.Follower() {
          @Override
          public void sent(long done, long all) {
            assertThat(done).isBetween(0L, all);
          }

          @Override
          public void retrying(String why) {
            retries.incrementAndGet();
          }
        };
    try (DistantDirectory store = DistantDirectory.open(STORE, FaultyStore.options());
        Push push = new Push(Consignment.of(database), store, manner, follower)) {
      push.send();
      if (keep >= 0) {
        List<String> unused = push.keep(keep);
      }
      return new Result(
          push.version(), push.sentBytes(), push.keptFiles(), push.repaired(), retries.get());
    }
  }

  private static String current() {
    byte[] pointer = FaultyStore.FILES.get("/users/CURRENT");
    return pointer == null ? null : Pointer.decode(pointer).current();
  }

  /** Copies a version to local disk by hand and reads it. */
  private String valueIn(String version) throws IOException {
    Path copy = Files.createTempDirectory(folder, "copy");
    String prefix = "/users/" + version + "/";
    for (Map.Entry<String, byte[]> file : FaultyStore.FILES.entrySet()) {
      if (file.getKey().startsWith(prefix)) {
        Path target = copy.resolve(file.getKey().substring(prefix.length()));
        Files.createDirectories(target.getParent());
        Files.write(target, file.getValue());
      }
    }
    Database.verify(copy, (done, all) -> {});
    try (Database database = Database.open(copy)) {
      return new String(database.get("key-7".getBytes(UTF_8)), UTF_8);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"1", "3"})
  void isSentAndFollowedByAnother(String shards) throws Exception {
    String[] options = shards.equals("1") ? new String[0] : new String[] {"--shards", shards};
    Path one = build("one", options);
    Path two = build("two", options);
    Consignment consignment = Consignment.of(one);

    Result first = push(one, "v1", -1);
    assertThat(first.sent()).isEqualTo(consignment.bytes());
    assertThat(valueIn("v1")).isEqualTo("one7");
    int files = consignment.files().size() + consignment.manifests().size();
    assertThat(push(one, null, -1)).isEqualTo(new Result("v1", 0, files, List.of(), 0));
    push(two, "v2", -1);
    assertThat(current()).isEqualTo("v2");
    assertThat(valueIn("v2")).isEqualTo("two7");
    assertThat(new String(FaultyStore.FILES.get("/users/CURRENT"), UTF_8)).isEqualTo("v2\nv1\n");
    assertThat(FaultyStore.FILES.keySet()).noneMatch(name -> name.endsWith(DistantStore.MARKER));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whereverItStopsTheCurrentVersionIsWholeAndTheNextPushContinues(boolean set)
      throws Exception {
    Path one = build("one");
    Path two = set ? build("two", "--shards", "2") : build("two");
    push(one, "v1", -1);
    Map<String, byte[]> before = Map.copyOf(FaultyStore.FILES);
    FaultyStore.repair();
    push(two, "v2", -1);
    int steps = FaultyStore.STEPS.get();
    assertThat(steps).isGreaterThan(12);
    long bytes = Consignment.of(two).bytes();

    for (int step = 1; step <= steps; step += Rounds.everything() ? 1 : 4) {
      int from = step;
      FaultyStore.FILES.clear();
      FaultyStore.FILES.putAll(before);
      FaultyStore.fail(now -> now >= from);
      try {
        push(two, null, -1);
      } catch (IOException expected) {
        assertThat(expected).hasMessageContaining("connection reset");
      }
      FaultyStore.repair();
      assertThat(valueIn(current())).as("step " + step).isIn("one7", "two7");
      boolean live = !current().equals("v1");
      int there = FaultyStore.FILES.size() - before.size();
      Result rest = push(two, null, -1);
      assertThat(rest.repaired()).isEqualTo(live ? List.of() : null);
      assertThat(valueIn(current())).isEqualTo("two7");
      if (there > 2) {
        assertThat(rest.sent()).as("step " + step).isLessThan(bytes);
      }
      long versions =
          FaultyStore.FILES.keySet().stream()
              .map(name -> name.split("/", -1)[2])
              .distinct()
              .count();
      assertThat(versions).as("CURRENT, v1 and one version").isEqualTo(3);
    }
  }

  @Test
  void oneFailureAnywhereIsRepaired() throws Exception {
    Path one = build("one");
    push(one, "v1", -1);
    int steps = FaultyStore.STEPS.get();
    for (int step = 1; step <= steps; step += Rounds.everything() ? 1 : 4) {
      int failing = step;
      FaultyStore.reset();
      FaultyStore.fail(now -> now == failing);
      push(one, "v1", -1);
      assertThat(valueIn("v1")).isEqualTo("one7");
    }
  }

  @Test
  void aFullStoreSaysSoAndKeepsItsVersion() throws Exception {
    push(build("one"), "v1", -1);
    Path two = build("two");
    FaultyStore.fill(10_000);
    assertThatThrownBy(() -> push(two, "v2", -1)).hasMessageContaining("the store is full");
    assertThat(current()).isEqualTo("v1");
    FaultyStore.repair();
    assertThat(push(two, "v2", -1).version()).isEqualTo("v2");
  }

  @Test
  void damageIsNamedAndNeverBecomesCurrent() throws Exception {
    Path one = build("one");
    List<Path> files;
    try (Stream<Path> all = Files.list(one)) {
      files = all.filter(file -> !file.endsWith(Consignment.MANIFEST)).toList();
    }
    for (Path file : files) {
      byte[] good = Files.readAllBytes(file);
      byte[] bad = good.clone();
      bad[4096 + 5] ^= 1;
      FaultyStore.reset(); // otherwise good bytes that were sent before need not be read again
      Files.write(file, bad);
      assertThatThrownBy(() -> push(one, "v1", -1))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(file + ": damaged at byte 4096");
      assertThat(current()).isNull();
      Files.write(file, good);
    }
    assertThat(push(one, "v1", -1).version()).isEqualTo("v1");
  }

  @Test
  void oldVersionsAreRemovedButNotTheOneToGoBackTo() throws Exception {
    for (int i = 1; i <= 4; i++) {
      push(build("w" + i), "v" + i, 1);
    }
    assertThat(FaultyStore.FILES.keySet().stream().map(name -> name.split("/", -1)[2]).distinct())
        .containsExactly("CURRENT", "v3", "v4");
    FaultyStore.FILES.put("/users/v3/notes.txt", new byte[1]);
    push(build("w5"), "v5", 0);
    push(build("w6"), "v6", 0);
    assertThat(FaultyStore.FILES)
        .containsKey("/users/v3/notes.txt")
        .containsKey("/users/v3/manifest.bsdb");
    assertThat(FaultyStore.FILES.keySet()).noneMatch(name -> name.startsWith("/users/v4/"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"1", "3"})
  void whatTheCurrentVersionLostIsSentAgain(String shards) throws Exception {
    Path one = build("one", shards.equals("1") ? new String[0] : new String[] {"--shards", shards});
    push(one, "v1", -1);
    Map<String, byte[]> whole = Map.copyOf(FaultyStore.FILES);
    for (String object : whole.keySet()) {
      String name = object.replaceFirst("/users/v1/", "");
      if (object.endsWith("/CURRENT") || name.equals(Consignment.MANIFEST)) {
        continue; // the store or the version is another one then
      }
      byte[] content = whole.get(object);
      FaultyStore.FILES.remove(object);
      assertThat(push(one, "v2", -1).repaired()).containsExactly(name + " (was missing)");
      FaultyStore.FILES.put(object, new byte[7]);
      assertThat(push(one, null, -1).repaired()).containsExactly(name + " (had 7 bytes)");
      byte[] damaged = content.clone();
      damaged[damaged.length / 2] ^= 1;
      FaultyStore.FILES.put(object, damaged);
      assertThat(push(one, null, -1).repaired()).isEmpty();
      Push.Manner verifying = new Push.Manner(null, true, 2, List.of(1L), null);
      assertThat(pushAs(one, verifying, -1).repaired()).containsExactly(name + " (was damaged)");
      assertThat(pushAs(one, verifying, -1).repaired()).isEmpty();
      assertThat(FaultyStore.FILES.keySet()).isEqualTo(whole.keySet());
      whole.forEach((path, bytes) -> assertThat(FaultyStore.FILES.get(path)).isEqualTo(bytes));
    }
  }

  @Test
  void aVersionWithoutItsManifestIsReplacedByAnother() throws Exception {
    Path one = build("one");
    push(one, "v1", -1);
    FaultyStore.FILES.remove("/users/v1/" + Consignment.MANIFEST);
    Result again = push(one, null, -1);
    assertThat(again.version()).isNotEqualTo("v1").isEqualTo(current());
    assertThat(valueIn(current())).isEqualTo("one7");
  }

  @ParameterizedTest
  @ValueSource(strings = {"1", "3"})
  void whatAnOlderVersionLostIsSentAgainUnderItsName(String shards) throws Exception {
    Path one = build("one", shards.equals("1") ? new String[0] : new String[] {"--shards", shards});
    push(one, "v1", -1);
    push(build("two"), "v2", -1);
    Map<String, byte[]> whole = Map.copyOf(FaultyStore.FILES);
    String lost =
        whole.keySet().stream()
            .filter(name -> name.contains("/v1/") && name.contains("data"))
            .findFirst()
            .orElseThrow();
    FaultyStore.FILES.remove(lost);

    assertThatThrownBy(() -> push(build("three"), "v1", -1))
        .hasMessageContaining("/v1: a version with this name already exists");
    assertThat(FaultyStore.FILES).doesNotContainKey(lost);
    assertThat(current()).isEqualTo("v2");

    Result repair = push(one, "v1", -1);
    assertThat(repair.version()).isEqualTo("v1");
    assertThat(repair.sent()).isEqualTo(whole.get(lost).length);
    assertThat(repair.repaired())
        .containsExactly(lost.replaceFirst("/users/v1/", "") + " (was missing)");
    assertThat(FaultyStore.FILES.keySet()).isEqualTo(whole.keySet());
    assertThat(new String(FaultyStore.FILES.get("/users/CURRENT"), UTF_8)).isEqualTo("v1\nv2\n");
    assertThat(valueIn("v1")).isEqualTo("one7");
  }

  @Test
  void theRepairOfAnOlderVersionIsReported() throws Exception {
    String one = build("one").toString();
    push(Path.of(one), "v1", -1);
    push(build("two"), "v2", -1);
    String lost =
        FaultyStore.FILES.keySet().stream()
            .filter(name -> name.contains("/v1/data"))
            .findFirst()
            .orElseThrow();
    FaultyStore.FILES.remove(lost);
    CommandRun run = distant("push", one, STORE, "--version", "v1");
    assertThat(run.code()).as(run.toString()).isZero();
    assertThat(run.out()).isEqualTo("v1\n");
    assertThat(run.err())
        .contains("v1 was this database already, and is current now; sent again: data")
        .contains(" (was missing)");
    push(build("three"), "v3", -1);
    assertThat(distant("push", one, STORE, "--version", "v1", "--json").out())
        .contains("\"unchanged\":false", "\"previous\":\"v3\"", "\"repaired\":[]");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void ofTwoPushesWithOneNameOneIsRefused(boolean sets) throws Exception {
    String[] options = sets ? new String[] {"--shards", "2"} : new String[0];
    List<Path> databases = List.of(build("one", options), build("two", options));
    for (int round = 0; round < 5; round++) {
      FaultyStore.reset();
      List<String> sent = new CopyOnWriteArrayList<>();
      List<String> refused = new CopyOnWriteArrayList<>();
      CyclicBarrier start = new CyclicBarrier(2);
      List<Thread> threads =
          databases.stream()
              .map(
                  database ->
                      new Thread(
                          () -> {
                            try {
                              start.await();
                              push(database, "v1", -1);
                              sent.add(String.valueOf(database.getFileName()));
                            } catch (Exception e) {
                              refused.add(e.toString());
                            }
                          }))
              .toList();
      threads.forEach(Thread::start);
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(sent).as(refused.toString()).hasSize(1);
      assertThat(refused.get(0)).contains("/v1: ", "choose another with --version");
      assertThat(valueIn("v1")).isEqualTo(sent.get(0) + "7");
      Consignment winner = Consignment.of(folder.resolve(sent.get(0)));
      assertThat(FaultyStore.FILES)
          .as("no orphans")
          .hasSize(winner.files().size() + winner.manifests().size() + 1);
    }
  }

  @Test
  void aPushIsRefusedWhoseVersionAnotherTookOverOrCompleted() throws Exception {
    Path one = build("one");
    Path two = build("two");
    String id = Consignment.of(two).databaseId();
    FaultyStore.FILES.put("/users/v1/" + DistantStore.MARKER, (id + "\n").getBytes(UTF_8));
    assertThatThrownBy(() -> push(one, "v1", -1))
        .hasMessageContaining("/v1: a push of database " + id);
    String own = Consignment.of(one).databaseId() + "\n";
    FaultyStore.reset();
    FaultyStore.ignoreConditions();
    FaultyStore.fail(
        step -> {
          if (step == 12) { // while files are sent
            assertThat(FaultyStore.FILES.put("/users/v1/.pushing", (id + "\n").getBytes(UTF_8)))
                .isEqualTo(own.getBytes(UTF_8));
          }
          return false;
        });
    assertThatThrownBy(() -> push(one, "v1", -1))
        .isInstanceOf(FileAlreadyExistsException.class)
        .hasMessageContaining("/v1: a push of database " + id);
    assertThat(current()).isNull();
    FaultyStore.repair();
    assertThat(push(two, "v1", -1).version()).isEqualTo("v1");
    assertThat(valueIn("v1")).isEqualTo("two7");
  }

  @Test
  void theCommandReportsAndRefuses() throws Exception {
    String one = build("one").toString();
    String store = folder.resolve("stores/users").toString();
    CommandRun first = bsdb("push", one, store, "--version", "v1");
    assertThat(first.code()).as(first.toString()).isZero();
    assertThat(first.out()).isEqualTo("v1\n");
    assertThat(first.err()).contains("sent v1 to " + store);
    assertThat(bsdb("versions", store).out()).isEqualTo("v1\tcurrent\n");
    assertThat(bsdb("get", "-d", store + "/v1", "key-7").out()).isEqualTo("one7\n");

    CommandRun again = bsdb("push", store, "file://" + store, "--json");
    assertThat(again.out()).contains("\"unchanged\":true", "\"repaired\":[]", "\"sentBytes\":0");
    Path lost;
    try (Stream<Path> files = Files.list(folder.resolve("stores/users/v1"))) {
      lost = files.filter(file -> !file.endsWith(Consignment.MANIFEST)).findFirst().orElseThrow();
    }
    Files.delete(lost);
    assertThat(bsdb("push", one, store).err())
        .contains("already is this database; sent again: " + lost.getFileName() + " (was missing)");
    assertThat(bsdb("push", one, store, "--verify").err()).contains("nothing was sent");
    String two = build("two").toString();
    assertThat(bsdb("push", two, store, "--version", "v1"))
        .satisfies(run -> assertThat(run.code()).isEqualTo(2))
        .satisfies(
            run -> assertThat(run.err()).contains("a version with this name already exists"));
    assertThat(bsdb("push", two, one).err()).contains("is a single database, not a store");
    assertThat(bsdb("push", two, folder.toString()).err()).contains("contains other files");
    assertThat(bsdb("push", two, store + "/v9").err()).contains("lies inside another store");
    assertThat(bsdb("push", two, store, "--version", "../x").err()).contains("--version: ");
    assertThat(bsdb("push", folder.resolve("none").toString(), store).err())
        .contains("no such directory");
    assertThat(bsdb("push", "--help").out()).contains("hdfs://", "--keytab");
    assertThat(bsdb("versions", store).out()).isEqualTo("v1\tcurrent\n");
  }

  private static CommandRun distant(String... words) {
    List<String> line = new ArrayList<>(List.of(words));
    line.addAll(List.of("--hadoop-set", "fs.faulty.impl=" + FaultyStore.class.getName()));
    return bsdb(line.toArray(String[]::new));
  }

  @Test
  void versionsOfADistantStoreAreListedAndRolledBack() throws Exception {
    push(build("one"), "v1", -1);
    push(build("two", "--shards", "2"), "v2", -1);
    FaultyStore.FILES.put("/users/v3/.pushing", new byte[] {'x', 10});
    assertThat(distant("versions", STORE).out()).isEqualTo("v1\nv2\tcurrent\n");
    assertThat(distant("versions", STORE, "--json").out())
        .contains("\"store\":\"" + STORE + "\"", "\"current\":\"v2\"", "\"records\":300");
    assertThat(distant("rollback", STORE).out()).isEqualTo("v1\n");
    assertThat(current()).isEqualTo("v1");
    assertThat(distant("rollback", STORE).err()).contains("there is no version before v1");
    assertThat(distant("rollback", STORE, "v2", "--json").out())
        .contains("\"version\":\"v2\"", "\"previous\":\"v1\"");
    assertThat(distant("rollback", STORE, "v9").err()).contains("/v9: no such version");
    assertThat(distant("rollback", STORE, "../x").err()).contains("version name \"../x\"");
    assertThat(distant("versions", "faulty://store/none").err()).contains("no store there");
    String lost =
        FaultyStore.FILES.keySet().stream()
            .filter(name -> name.contains("/v1/data"))
            .toList()
            .get(0);
    FaultyStore.FILES.remove(lost);
    assertThat(distant("rollback", STORE, "v1"))
        .satisfies(run -> assertThat(run.code()).isEqualTo(2))
        .satisfies(run -> assertThat(run.err()).contains(lost + ": is missing"));
    assertThat(current()).isEqualTo("v2");
    assertThat(distant("versions", STORE, "--long").out()).contains("cannot be opened");
  }

  @Test
  void aStoreIsReadAtItsCurrentVersion() throws Exception {
    String store = folder.resolve("store").toString();
    bsdb("publish", build("one").toString(), store, "--version", "v1", "-q");
    bsdb("publish", build("two").toString(), store, "--version", "v2", "-q");
    CommandRun got = bsdb("get", "-d", store, "key-7");
    assertThat(got.out()).isEqualTo("two7\n");
    assertThat(got.err()).isEqualTo("bsdb get: reading " + store + "/v2, the current version\n");
    assertThat(bsdb("get", "-d", store, "key-7", "-q").err()).isEmpty();
    CommandRun scan = bsdb("scan", "-d", store, "--count");
    assertThat(scan.out()).isEqualTo("300\n");
    assertThat(scan.err()).contains(store + "/v2, the current version");
    assertThat(bsdb("stat", "-d", store).out()).contains(store + "/v2");
    assertThat(bsdb("verify", "-d", store).err()).contains("verified " + store + "/v2");
    assertThat(bsdb("warm", "-d", store).code()).isZero();
    assertThat(bsdb("get-rate", "-d", store, "--seconds", "1").code()).isZero();
  }

  @Test
  void aReplacedDatabaseIsReported() throws Exception {
    Path one = build("one");
    Consignment consignment = Consignment.of(one);
    Path moved = Files.move(one, folder.resolve("moved"));
    Files.move(build("two"), one);
    try (DistantDirectory store = DistantDirectory.open(STORE, FaultyStore.options());
        Push push =
            new Push(
                consignment,
                store,
                new Push.Manner(null, false, 2, List.of(), null),
                new Push.Follower() {
                  @Override
                  public void sent(long done, long all) {}

                  @Override
                  public void retrying(String why) {}
                })) {
      assertThatThrownBy(push::send)
          .isNotInstanceOf(CorruptDatabaseException.class)
          .hasMessageContaining("was replaced while it was sent");
    }
    assertThat(moved).exists();
    assertThat(current()).isNull();
  }
}
