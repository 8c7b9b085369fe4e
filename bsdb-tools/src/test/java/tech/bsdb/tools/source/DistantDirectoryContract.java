package tech.bsdb.tools.source;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What every directory elsewhere does, wherever it is. */
abstract class DistantDirectoryContract {
  /** An empty directory that does not exist yet. */
  abstract DistantDirectory fresh() throws IOException;

  private static String text(DistantDirectory directory, String file) throws IOException {
    try (InputStream in = directory.open(file, 0)) {
      return new String(in.readAllBytes(), UTF_8);
    }
  }

  private static ByteArrayInputStream bytes(String text) {
    return new ByteArrayInputStream(text.getBytes(UTF_8));
  }

  @Test
  void whatIsWrittenIsListedAndReadFromAnyByte() throws Exception {
    byte[] content = new byte[700_000];
    new Random(1).nextBytes(content);
    try (DistantDirectory directory = fresh()) {
      directory.write("v1/deep/data.bsdb", new ByteArrayInputStream(content));
      directory.write("v1/small", bytes("first"));
      directory.write("v1/small", bytes("then"));
      assertThat(directory.list("v1"))
          .extracting(DistantDirectory.Entry::name, DistantDirectory.Entry::directory)
          .containsExactlyInAnyOrder(tuple("deep", true), tuple("small", false));
      assertThat(directory.list("")).extracting(DistantDirectory.Entry::name).containsExactly("v1");
      assertThat(directory.list("v1/deep"))
          .extracting(DistantDirectory.Entry::length)
          .containsExactly(700_000L);
      assertThat(directory.isComplete("v1/small")).isTrue();
      assertThat(text(directory, "v1/small")).isEqualTo("then");
      for (int from : new int[] {0, 1, 4096, 699_999, 700_000}) {
        try (InputStream in = directory.open("v1/deep/data.bsdb", from)) {
          assertThat(in.readAllBytes())
              .isEqualTo(Arrays.copyOfRange(content, from, content.length));
        }
      }
      assertThat(directory.location("v1/small")).endsWith("/v1/small");
      assertThat(directory.location("")).doesNotEndWith("/");
    }
  }

  @Test
  void whatIsMissingIsNamed() throws Exception {
    try (DistantDirectory directory = fresh()) {
      assertThatThrownBy(() -> directory.list("")).isInstanceOf(NoSuchFileException.class);
      assertThatThrownBy(() -> directory.open("none", 0))
          .isInstanceOf(NoSuchFileException.class)
          .hasMessageContaining(directory.location("none"));
      directory.delete("none");
      directory.write("a/file", bytes("x"));
      assertThatThrownBy(() -> directory.list("none")).isInstanceOf(NoSuchFileException.class);
      assertThatThrownBy(() -> directory.list("a/file")).isInstanceOf(NotDirectoryException.class);
      assertThatThrownBy(() -> directory.open("a", 0)).isInstanceOf(NoSuchFileException.class);
      assertThat(directory.explain("none", new NoSuchFileException(directory.location("none"))))
          .hasMessageContaining("none");
    }
  }

  @Test
  void aFileIsReplacedAndNothingElseIsLeft() throws Exception {
    try (DistantDirectory directory = fresh()) {
      directory.replace("CURRENT", "v1\n".getBytes(UTF_8));
      assertThat(text(directory, "CURRENT")).isEqualTo("v1\n");
      directory.replace("CURRENT", "v2\n".getBytes(UTF_8));
      assertThat(text(directory, "CURRENT")).isEqualTo("v2\n");
      assertThat(directory.list(""))
          .extracting(DistantDirectory.Entry::name)
          .containsExactly("CURRENT");
    }
  }

  @Test
  void aFileIsCreatedOnce() throws Exception {
    try (DistantDirectory directory = fresh()) {
      assertThat(directory.create("v1/marker", "one".getBytes(UTF_8))).isTrue();
      assertThat(directory.create("v1/marker", "two".getBytes(UTF_8))).isFalse();
      assertThat(text(directory, "v1/marker")).isEqualTo("one");
      directory.delete("v1/marker");
      assertThat(directory.create("v1/marker", "two".getBytes(UTF_8))).isTrue();
      assertThat(directory.list("v1"))
          .extracting(DistantDirectory.Entry::name)
          .containsExactly("marker");
    }
  }

  @Test
  void deletesWhatIsBelow() throws Exception {
    try (DistantDirectory directory = fresh()) {
      directory.write("v1/shard/a", bytes("x"));
      directory.write("v1/b", bytes("x"));
      directory.write("v2/b", bytes("x"));
      directory.delete("v1/b");
      assertThat(directory.list("v1")).hasSize(1);
      directory.delete("v1");
      assertThat(directory.list("")).extracting(DistantDirectory.Entry::name).containsExactly("v2");
    }
  }

  @Test
  void aFileWhoseContentFailsIsNotLeft() throws Exception {
    InputStream content =
        new SequenceInputStream(new ByteArrayInputStream(new byte[300_000]), new Damaged());
    try (DistantDirectory directory = fresh()) {
      directory.write("v1/other", bytes("x"));
      assertThatThrownBy(() -> directory.write("v1/file", content))
          .isInstanceOf(IOException.class)
          .hasMessage("damaged");
      assertThat(directory.list("v1"))
          .extracting(DistantDirectory.Entry::name)
          .containsExactly("other");
    }
  }

  @Test
  void aStreamMayBeClosedBeforeItsEndAndTwice() throws Exception {
    try (DistantDirectory directory = fresh()) {
      directory.write("file", new ByteArrayInputStream(new byte[3_000_000]));
      InputStream in = directory.open("file", 10);
      assertThat(in.read()).isZero();
      in.close();
      in.close();
      assertThatThrownBy(in::read).isInstanceOf(IOException.class);
    }
  }

  private static final class Damaged extends InputStream {
    @Override
    public int read() throws IOException {
      throw new IOException("damaged");
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      return read();
    }
  }
}
