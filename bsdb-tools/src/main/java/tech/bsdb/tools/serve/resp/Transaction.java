package tech.bsdb.tools.serve.resp;

import java.util.ArrayList;
import java.util.List;

/**
 * The commands between {@code MULTI} and {@code EXEC}, which are then answered together, in one
 * version of the data. Confined to its connection's event loop.
 */
final class Transaction {
  private final List<Queued> commands = new ArrayList<>();
  private long bytes;
  private boolean broken;

  /** A command that waits for {@code EXEC}. */
  record Queued(CommandSpec spec, List<byte[]> arguments) implements Arguments {
    @Override
    public int count() {
      return arguments.size();
    }

    @Override
    public byte[] argument(int number) {
      return arguments.get(number);
    }
  }

  /**
   * Adds a command.
   *
   * @param taken the memory that it takes
   */
  void add(CommandSpec spec, List<byte[]> arguments, long taken) {
    commands.add(new Queued(spec, arguments));
    bytes += taken;
  }

  /** Returns the commands in order. */
  List<Queued> commands() {
    return commands;
  }

  /** Returns the memory that the commands take. */
  long bytes() {
    return bytes;
  }

  /** Notes that a command was refused, so that none will be carried out. */
  void refuse() {
    broken = true;
    commands.clear();
    bytes = 0;
  }

  /** Whether a command was refused. */
  boolean isBroken() {
    return broken;
  }
}
