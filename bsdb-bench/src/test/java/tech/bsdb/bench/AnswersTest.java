package tech.bsdb.bench;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import tech.bsdb.bench.Answers.WrongAnswerException;

class AnswersTest {
  private static final KeySet KEYS = FakeAnswers.keys(10);

  @Test
  void acceptsWhatTheSourceSays() {
    Answers exact = new Answers(KEYS, 0);
    assertThatCode(() -> exact.check(3, "value000003".getBytes(UTF_8))).doesNotThrowAnyException();
    assertThatCode(() -> exact.check(~0, null)).doesNotThrowAnyException();
  }

  @Test
  void namesTheKeyOfAWrongAnswer() {
    assertThatThrownBy(() -> new Answers(KEYS, 0).check(3, "value000004".getBytes(UTF_8)))
        .isInstanceOf(WrongAnswerException.class)
        .hasMessageContaining("key000003")
        .hasMessageContaining("expected \"value000003\", got \"value000004\"");
  }

  @Test
  void aKeyOfTheSourceMustBeThere() {
    assertThatThrownBy(() -> new Answers(KEYS, 0).check(3, null))
        .hasMessageContaining("key000003")
        .hasMessageContaining("got absent");
  }

  @Test
  void anAbsentKeyMustNotBeThere() {
    assertThatThrownBy(() -> new Answers(KEYS, 0).check(~0, new byte[] {0, 1}))
        .hasMessageContaining("absent1")
        .hasMessageContaining("expected absent, got hex 0001");
  }

  @Test
  void anApproximateDatabaseCutsValuesAndMayMistakeAbsentKeys() {
    Answers approximate = new Answers(KEYS, 8);
    assertThatCode(() -> approximate.check(3, "value000".getBytes(UTF_8)))
        .doesNotThrowAnyException();
    assertThatCode(() -> approximate.check(~0, new byte[1])).doesNotThrowAnyException();
    assertThatThrownBy(() -> approximate.check(3, "value001".getBytes(UTF_8)))
        .hasMessageContaining("key000003");
    assertThatThrownBy(() -> approximate.check(3, "value00".getBytes(UTF_8)))
        .hasMessageContaining("key000003");
  }
}
