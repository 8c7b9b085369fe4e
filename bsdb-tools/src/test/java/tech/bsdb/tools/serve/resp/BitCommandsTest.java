package tech.bsdb.tools.serve.resp;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class BitCommandsTest {
  private static BitCommands.Span span(String... places) throws CommandException {
    List<byte[]> command = Stream.of(places).map(place -> place.getBytes(US_ASCII)).toList();
    return BitCommands.Span.of(command, 0);
  }

  @Test
  void placesFarOutsideAreTheEndsOfTheString() throws CommandException {
    for (String unit : List.of("byte", "bit")) {
      BitCommands.Span behind = span("9223372036854775807", "-1", unit);
      assertThat(behind.from(5)).isEqualTo(40);
      BitCommands.Span all = span("-9223372036854775808", "9223372036854775807", unit);
      assertThat(all.from(5)).isZero();
      assertThat(all.to(5)).isEqualTo(40);
    }
  }
}
