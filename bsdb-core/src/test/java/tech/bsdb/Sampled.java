package tech.bsdb;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.engine.UniqueId;

/**
 * Of a parameterized or repeated test, the short form of the check runs only every n-th case,
 * beginning with the first; {@code -Pnightly} runs all. Look at the cases before you choose n: each
 * value that can fail in its own way must still occur in some test of the short form. On a class,
 * it holds for its parameterized tests without their own.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(Sampled.Condition.class)
public @interface Sampled {
  /** The distance of the cases that run. */
  int value();

  /** Decides for each case. */
  final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      List<UniqueId.Segment> segments = UniqueId.parse(context.getUniqueId()).getSegments();
      UniqueId.Segment last = segments.get(segments.size() - 1);
      Sampled sampled =
          context
              .getElement()
              .map(each -> each.getAnnotation(Sampled.class))
              .or(() -> context.getTestClass().map(each -> each.getAnnotation(Sampled.class)))
              .orElse(null);
      if (sampled == null
          || Rounds.everything()
          || !last.getType().equals("test-template-invocation")) {
        return ConditionEvaluationResult.enabled("every case");
      }
      int number = Integer.parseInt(last.getValue().substring(1));
      return (number - 1) % sampled.value() == 0
          ? ConditionEvaluationResult.enabled("in the sample")
          : ConditionEvaluationResult.disabled("left to the long form of the check");
    }
  }
}
