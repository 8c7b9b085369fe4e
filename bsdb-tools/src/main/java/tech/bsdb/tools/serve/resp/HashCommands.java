package tech.bsdb.tools.serve.resp;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowFields;

/**
 * Commands about typed rows, each of which is a hash of its fields. Only the fields that are asked
 * for are decoded. A null is a field that does not exist.
 */
final class HashCommands {
  /** The most bytes that repeated fields may add to a reply. */
  private static final int MOST_REPEATED = 1 << 20;

  private HashCommands() {}

  /** Reads some fields of a row; the wanted columns are set in {@code wanted}. */
  private static void read(RowFields row, Found found, BitSet wanted) throws CommandException {
    try {
      row.read(found.bytes(), found.offset(), found.length(), wanted);
    } catch (BadRowException e) {
      throw notARow(e);
    }
  }

  private static void readNulls(RowFields row, Found found) throws CommandException {
    try {
      row.readNulls(found.bytes(), found.offset(), found.length());
    } catch (BadRowException e) {
      throw notARow(e);
    }
  }

  private static CommandException notARow(BadRowException e) {
    return CommandException.inUtf8(
        "ERR the value is not a row of the data set's schema: " + e.getMessage());
  }

  /**
   * Returns the reader of the row that was found; null if the key is absent.
   *
   * @throws CommandException if the key has a string
   */
  private static @Nullable RowFields row(Found found) throws CommandException {
    if (!found.isPresent()) {
      return null;
    }
    RowFields row = found.rows();
    if (row == null) {
      throw new CommandException(CommandException.WRONG_TYPE);
    }
    return row;
  }

  private static void write(RowFields row, int column, ReplyWriter out) {
    if (column < 0 || row.isNull(column)) {
      out.absent();
    } else {
      out.bulk(row.buffer(column), row.offset(column), row.length(column));
    }
  }

  private static void writeAll(Found found, boolean names, boolean values, ReplyWriter out)
      throws CommandException {
    RowFields row = row(found);
    int entries = 0;
    if (row != null) {
      if (values) {
        try {
          row.readAll(found.bytes(), found.offset(), found.length());
        } catch (BadRowException e) {
          throw notARow(e);
        }
      } else {
        readNulls(row, found);
      }
      entries = row.present();
    }
    if (names && values) {
      out.map(entries);
    } else {
      out.array(entries);
    }
    if (row == null) {
      return;
    }
    List<byte[]> all = row.names();
    for (int column = 0; column < all.size(); column++) {
      if (!row.isNull(column)) {
        if (names) {
          out.bulk(all.get(column));
        }
        if (values) {
          out.bulk(row.buffer(column), row.offset(column), row.length(column));
        }
      }
    }
    row.reset();
  }

  private static BitSet only(int column) {
    BitSet wanted = new BitSet();
    if (column >= 0) {
      wanted.set(column);
    }
    return wanted;
  }

  static void hget(Arguments command, LookupRound round) {
    byte[] name = command.argument(2);
    round.begin();
    round.add(
        command.argument(1),
        (found, out) -> {
          RowFields row = row(found);
          if (row == null) {
            out.absent();
            return;
          }
          int column = row.find(name);
          read(row, found, only(column));
          write(row, column, out);
          row.reset();
        });
  }

  static void hmget(Arguments command, LookupRound round) throws CommandException {
    round.require(command.count() - 2, "fields");
    List<byte[]> names = new ArrayList<>(command.count() - 2);
    for (int i = 2; i < command.count(); i++) {
      names.add(command.argument(i));
    }
    round.begin();
    round.add(command.argument(1), (found, out) -> writeSome(found, names, out));
  }

  private static void writeSome(Found found, List<byte[]> names, ReplyWriter out)
      throws CommandException {
    RowFields row = row(found);
    if (row == null) {
      out.array(names.size());
      names.forEach(name -> out.absent());
      return;
    }
    BitSet wanted = new BitSet();
    for (byte[] name : names) {
      int column = row.find(name);
      if (column >= 0) {
        wanted.set(column);
      }
    }
    read(row, found, wanted);
    requireFewRepeated(row, names);
    out.array(names.size());
    for (byte[] name : names) {
      write(row, row.find(name), out);
    }
    row.reset();
  }

  /**
   * Requires that fields given several times do not make the reply much longer than the row.
   *
   * @throws CommandException if they do
   */
  private static void requireFewRepeated(RowFields row, List<byte[]> names)
      throws CommandException {
    BitSet seen = new BitSet();
    long repeated = 0;
    for (byte[] name : names) {
      int column = row.find(name);
      if (column >= 0 && !row.isNull(column)) {
        repeated += seen.get(column) ? row.length(column) : 0;
        seen.set(column);
      }
    }
    if (repeated > MOST_REPEATED) {
      throw new CommandException(
          "ERR fields that are asked for again would add "
              + repeated
              + " bytes to the reply, which is more than "
              + MOST_REPEATED);
    }
  }

  static void hexists(Arguments command, LookupRound round) {
    measure(command, round, false);
  }

  static void hstrlen(Arguments command, LookupRound round) {
    measure(command, round, true);
  }

  /** Answers with the length of a field, or else with 1; with 0 if it does not exist. */
  private static void measure(Arguments command, LookupRound round, boolean length) {
    byte[] name = command.argument(2);
    round.begin();
    round.add(
        command.argument(1),
        (found, out) -> {
          RowFields row = row(found);
          if (row == null) {
            out.integer(0);
            return;
          }
          int column = row.find(name);
          if (length) {
            read(row, found, only(column));
          } else {
            readNulls(row, found);
          }
          out.integer(column < 0 || row.isNull(column) ? 0 : length ? row.length(column) : 1);
        });
  }

  static void hgetall(Found found, ReplyWriter out) throws CommandException {
    writeAll(found, true, true, out);
  }

  static void hkeys(Found found, ReplyWriter out) throws CommandException {
    writeAll(found, true, false, out);
  }

  static void hvals(Found found, ReplyWriter out) throws CommandException {
    writeAll(found, false, true, out);
  }

  static void hlen(Found found, ReplyWriter out) throws CommandException {
    RowFields row = row(found);
    if (row != null) {
      readNulls(row, found);
    }
    out.integer(row == null ? 0 : row.present());
  }
}
