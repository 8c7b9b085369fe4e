package tech.bsdb.tools.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ConsoleTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @Test
  void outputIsUtf8AndIsBufferedUntilFlush() throws IOException {
    Console console = console(false);

    console.print("日本");
    assertThat(out.size()).isZero();
    console.out().flush();

    assertThat(out.toString(UTF_8)).isEqualTo("日本\n");
  }

  @Test
  void outputOfAnySizeKeepsItsOrder() throws IOException {
    Console console = console(false);
    Random random = new Random(1);
    ByteArrayOutputStream expected = new ByteArrayOutputStream();
    for (int i = 0; i < 200; i++) {
      byte[] piece =
          new byte[random.nextInt(10) == 0 ? random.nextInt(200_000) : random.nextInt(100)];
      random.nextBytes(piece);
      expected.write(piece);
      expected.write(i);
      console.out().write(piece);
      console.out().write(i);
    }
    console.out().flush();

    assertThat(out.toByteArray()).isEqualTo(expected.toByteArray());
  }

  @Test
  void messagesCannotSteerATerminal() {
    console(true).say("/data/a\n\u001b]0;b: gone");

    assertThat(err.toString(UTF_8)).isEqualTo("/data/a\\x0a\\x1b]0;b: gone\n");
  }

  @Test
  void aStatusLineIsRedrawnInPlaceAndClearedForMessages() {
    Console console = console(true);

    console.status("half done");
    console.status("all done");
    console.say("done");
    console.status("");

    assertThat(err.toString(UTF_8))
        .isEqualTo("\rhalf done\rall done \r" + " ".repeat(8) + "\rdone\n\r\r");
  }

  @Test
  void withoutATerminalThereIsNoStatusLine() {
    Console console = console(false);

    console.status("half done");
    console.say("done");

    assertThat(err.toString(UTF_8)).isEqualTo("done\n");
  }

  @Test
  void messagesToAClosedStderrAreIgnored() {
    OutputStream broken =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("Broken pipe");
          }
        };

    new Console(InputStream.nullInputStream(), out, broken, true).say("hello?");
  }

  private Console console(boolean terminal) {
    return new Console(InputStream.nullInputStream(), out, err, terminal);
  }
}
