package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is made of the result of a read, on any JDK: the system calls are not those of a system. */
class NativeFileTest {
  private static final int PAGE = PageSource.PAGE;
  private static final Path FILE = Path.of("/data");

  /** A file of so many bytes. */
  private static NativeFile file(long size, boolean direct) throws IOException {
    SystemCalls calls =
        (SystemCalls)
            Proxy.newProxyInstance(
                SystemCalls.class.getClassLoader(),
                new Class<?>[] {SystemCalls.class},
                (proxy, method, arguments) ->
                    switch (method.getName()) {
                      case "open" -> 7;
                      case "size" -> size;
                      default -> throw new AssertionError(method);
                    });
    return NativeFile.open(calls, FILE, direct);
  }

  @ParameterizedTest
  @CsvSource({
    "true, 16384, 16384",
    "true, 4096, 4096",
    "true, 4097, 4096",
    "true, 12287, 8192",
    "false, 4097, 4097",
    "false, 1, 1",
  })
  void aShortReadGoesOnWhereItEndedAndADirectOneAtAPage(boolean direct, int got, int kept)
      throws Exception {
    assertThat(file(1 << 20, direct).progress(got, 4 * PAGE, 0)).isEqualTo(kept);
  }

  @ParameterizedTest
  @ValueSource(ints = {Errno.EINTR, Errno.EAGAIN, Errno.ECANCELED})
  void aReadThatWasInterruptedIsRepeated(int error) throws Exception {
    assertThat(file(1 << 20, false).progress(-error, PAGE, 0)).isZero();
  }

  @Test
  void otherErrorsNameFileAndPlace() throws Exception {
    assertThatThrownBy(() -> file(1 << 20, true).progress(-Errno.EIO, PAGE, 8192))
        .isInstanceOf(IOException.class)
        .hasMessage("/data: cannot be read at byte 8192: Input/output error");
  }

  @Test
  void theEndOfTheFileIsToldFromADeviceThatGivesTooLittle() throws Exception {
    assertThatThrownBy(() -> file(8192, true).progress(0, PAGE, 8192))
        .isInstanceOf(EOFException.class)
        .hasMessage("/data: ends before byte 12288; it was cut short while open");
    assertThatThrownBy(() -> file(1 << 20, true).progress(512, PAGE, 8192))
        .isExactlyInstanceOf(IOException.class)
        .hasMessageContaining("the device returned only 512 bytes");
  }
}
