package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Memory that is left, of the machine and of the control groups on the way to its root. */
@Tag("jdk")
class MemoryTest {
  private static final long MIB = 1 << 20;

  @TempDir Path directory;

  private Path proc;
  private Path groups;

  private void machine(long available, String group) throws IOException {
    proc = directory.resolve("proc");
    groups = Files.createDirectories(directory.resolve("groups"));
    Files.createDirectories(proc.resolve("self"));
    Files.writeString(
        proc.resolve("meminfo"),
        "MemTotal: 99999999 kB\nMemAvailable:   " + available / 1024 + " kB\n");
    Files.writeString(proc.resolve("self/cgroup"), group);
  }

  private void group(String name, String max, long current, long cache) throws IOException {
    Path group = Files.createDirectories(groups.resolve(name));
    Files.writeString(group.resolve("memory.max"), max + "\n");
    Files.writeString(group.resolve("memory.current"), current + "\n");
    Files.writeString(
        group.resolve("memory.stat"),
        "anon 1\nfile 7\ninactive_anon 5\nactive_anon 6\ninactive_file "
            + cache
            + "\nactive_file "
            + 10 * MIB
            + "\n");
  }

  @Test
  void theMachineCountsWhereNoGroupAllowsLess() throws Exception {
    machine(500 * MIB, "0::/\n");
    assertThat(Memory.available(proc, groups)).isEqualTo(500 * MIB);
    machine(500 * MIB, "0::/user/job\n");
    group("user/job", "max", 3, 4);
    assertThat(Memory.available(proc, groups)).isEqualTo(500 * MIB);
  }

  @Test
  void aGroupsLimitCountsWithWhatItCouldDropAddedAndItsParentsToo() throws Exception {
    machine(500 * MIB, "4:memory:/old\n0::/user/job\n");
    group("user/job", "" + 200 * MIB, 100 * MIB, 20 * MIB);
    assertThat(Memory.available(proc, groups)).isEqualTo(130 * MIB);
    group("user", "" + 50 * MIB, 40 * MIB, 0);
    assertThat(Memory.available(proc, groups)).isEqualTo(20 * MIB);
    group("user", "" + 50 * MIB, 80 * MIB, 0);
    assertThat(Memory.available(proc, groups)).isZero();
  }

  @Test
  void whatNobodyTellsIsUnlimited() throws Exception {
    assertThat(Memory.available(directory.resolve("no"), directory.resolve("none")))
        .isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void tooMuchIsRefusedWithBothNumbers() {
    assertThatCode(() -> Memory.require(directory, 10, "be loaded", 10)).doesNotThrowAnyException();
    assertThatThrownBy(() -> Memory.require(directory, 1_234_567, "be loaded", 1000))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(directory + ": ")
        .hasMessageContaining("1,234,567")
        .hasMessageContaining("1,000");
  }
}
