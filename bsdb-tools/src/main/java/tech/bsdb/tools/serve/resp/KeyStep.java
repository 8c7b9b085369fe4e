package tech.bsdb.tools.serve.resp;

/** What becomes of one key of a command, or of a command without keys, in a round of lookups. */
@FunctionalInterface
interface KeyStep {
  /**
   * Answers, or adds to what a later step answers.
   *
   * @param found what was found for the step's key, if it has one
   * @throws CommandException if the whole command is answered by an error
   */
  void answer(Found found, ReplyWriter out) throws CommandException;
}
