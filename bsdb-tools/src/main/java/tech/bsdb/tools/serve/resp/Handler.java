package tech.bsdb.tools.serve.resp;

import java.io.IOException;
import java.util.List;

/** What answers a command. */
sealed interface Handler permits Handler.Queued, Handler.Alone, Handler.NeverAnswered {
  /** A command about keys, which are looked up together with those of its neighbours. */
  @FunctionalInterface
  non-sealed interface Queued extends Handler {
    /**
     * Adds the steps of a command to a round.
     *
     * @throws CommandException if it is answered by an error; no step was added then
     */
    void queue(List<byte[]> command, LookupRound round) throws CommandException;
  }

  /** How a command about one key alone, which its first argument is, is read. */
  @FunctionalInterface
  interface Parser {
    /**
     * Returns what answers a command.
     *
     * @param round says how many arguments there may be
     * @throws CommandException if it is answered by an error
     */
    LookupRound.KeyStep parse(List<byte[]> command, LookupRound round) throws CommandException;
  }

  /**
   * A command about one key alone that is always answered in the same way.
   *
   * @param key the number of the argument that is the key
   * @param step answers
   */
  record OfKey(int key, LookupRound.KeyStep step) implements Queued {
    @Override
    public void queue(List<byte[]> command, LookupRound round) {
      round.addAlone(command.get(key), step);
    }
  }

  /**
   * A command that is always answered by the same error: it is known, but not carried out.
   *
   * @param reply the error
   */
  record NeverAnswered(String reply) implements Handler {}

  /**
   * A command that is answered on its own: at once and on the event loop, unless it is {@link
   * Deferred}.
   */
  @FunctionalInterface
  non-sealed interface Alone extends Handler {
    /**
     * Answers a command.
     *
     * @throws CommandException if it is answered by an error; nothing was written then
     */
    void answer(Session session, List<byte[]> arguments, ReplyWriter out)
        throws CommandException, IOException;
  }

  /** A command that reads files or takes time, and is answered by a worker. */
  @FunctionalInterface
  interface Deferred extends Alone {}

  /**
   * A {@link Deferred} command that may have to read all keys in a cluster, where it does not run
   * on the workers, for which lookups wait.
   */
  @FunctionalInterface
  interface Counting extends Deferred {}

  /**
   * The rest of a reply that is not written as a whole, so that no more of it is held than the
   * client takes. Used by one thread at a time.
   */
  interface Rest extends AutoCloseable {
    /**
     * Writes a piece of about so many bytes; returns whether the reply has ended.
     *
     * @throws IOException if reading fails; the reply is then useless
     */
    boolean write(ReplyWriter out, int bytes) throws IOException;

    @Override
    void close();
  }
}
