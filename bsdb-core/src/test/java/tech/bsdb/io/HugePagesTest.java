package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.MemoryUse;

/** What the kernel says of mappings is read as it is meant. */
@Tag("jdk")
class HugePagesTest {
  private static final String LINES =
      """
      7f0000000000-7f0000600000 r--s 00000000 fe:00 1234   /data/db/data-000-abc.bsdb
      Size:               6144 kB
      Rss:                5000 kB
      Locked:                0 kB
      FilePmdMapped:      4096 kB
      AnonHugePages:         0 kB
      VmFlags: rd mr me ms hg
      7f0000600000-7f0000601000 r--s 00000000 fe:00 1235   /data/db/index a b.bsdb (deleted)
      Rss:                   4 kB
      FilePmdMapped:         0 kB
      7f0000700000-7f0000800000 r--s 00000000 fe:00 1236   /data/db/other.bsdb
      Rss:                1024 kB
      FilePmdMapped:      1024 kB
      7f1000000000-7f1000a00000 rw-p 00000000 00:00 0
      Rss:               10240 kB
      AnonHugePages:      8192 kB
      VmFlags: rd wr mr mw me ac hg
      7f2000000000-7f2000a00000 rw-p 00000000 00:00 0      [heap]
      Rss:               10240 kB
      AnonHugePages:     10240 kB
      """;

  @TempDir Path directory;

  private static MemoryUse of(Set<String> names, Set<HugePages.Range> ranges) throws Exception {
    return HugePages.of(new BufferedReader(new StringReader(LINES)), names, ranges);
  }

  @Test
  void mappingsOfTheFilesAreSummedAndNoOthers() throws Exception {
    assertThat(of(Set.of("/data/db/data-000-abc.bsdb"), Set.of()))
        .isEqualTo(new MemoryUse(6 << 20, 5000 << 10, 4 << 20));
    assertThat(of(Set.of("/data/db/data-000-abc.bsdb", "/data/db/index a b.bsdb"), Set.of()))
        .isEqualTo(new MemoryUse((6 << 20) + 4096, 5004 << 10, 4 << 20));
    assertThat(of(Set.of("/data/db/none"), Set.of())).isEqualTo(MemoryUse.NONE);
  }

  @Test
  void loadedMemoryIsFoundByItsAddress() throws Exception {
    HugePages.Range six = new HugePages.Range(0x7f1000200000L, 6 << 20);
    assertThat(of(Set.of(), Set.of(six))).isEqualTo(new MemoryUse(6 << 20, 6 << 20, 6 << 20));
    HugePages.Range all = new HugePages.Range(0x7f1000000000L, 10 << 20);
    assertThat(of(Set.of(), Set.of(all))).isEqualTo(new MemoryUse(10 << 20, 10 << 20, 8 << 20));
  }

  @Test
  void aMappingOfThisProcessIsFound() throws Exception {
    Path file = Files.write(directory.resolve("ein Pfad \u00fc"), new byte[3 * 4096]);
    try (ShownFile mapping = ShownFile.mapForOne(file, 3 * 4096, SystemCalls.RANDOM)) {
      assertThat(mapping.buffer(4096).get(ShownFile.offset(4096))).isZero();
      MemoryUse use = HugePages.of(List.of(file.toRealPath()), List.of());
      assertThat(use.bytes()).isEqualTo(3 * 4096);
      assertThat(use.residentBytes()).isBetween(4096L, 3 * 4096L);
      Files.delete(file);
      assertThat(
              HugePages.of(List.of(directory.toRealPath().resolve(file.getFileName())), List.of()))
          .isEqualTo(use);
    }
    assertThat(HugePages.of(List.of(directory.resolve(file.getFileName())), List.of()))
        .isEqualTo(MemoryUse.NONE);
  }
}
