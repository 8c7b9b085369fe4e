package tech.bsdb.tools.publish;

import java.io.IOException;
import java.util.List;
import tech.bsdb.store.Store;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.UsageException;

/** The operand {@code STORE} of commands that need one. */
final class StoreOperand {
  private StoreOperand() {}

  /** Opens the store that the first operand names; at most {@code most} operands are allowed. */
  static Store of(Arguments arguments, int most, String example)
      throws UsageException, IOException {
    List<String> operands = arguments.operands();
    if (operands.isEmpty() || operands.get(0).isEmpty()) {
      throw new UsageException("no store given; for example: " + example);
    }
    if (operands.size() > most) {
      throw new UsageException("unexpected argument \"" + operands.get(most) + "\"");
    }
    return Store.open(arguments.pathOperand(0, "store"));
  }
}
