package tech.bsdb.tools.serve.resp;

/** The arguments of a command, of which the first is its name. */
interface Arguments {
  /** Returns the number of arguments, including the name; at least 1. */
  int count();

  /** Returns an argument, which is not changed afterwards. */
  byte[] argument(int number);
}
