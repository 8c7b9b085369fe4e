package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class ReplyTest {
  @Test
  void anErrorIsASmallObject() {
    assertThat(Reply.error(404, "no \"key\"\n\ud800é").body())
        .asString(UTF_8)
        .isEqualTo("{\"error\":{\"status\":404,\"message\":\"no \\\"key\\\"\\n?é\"}}\n");
  }
}
