package tech.bsdb.read;

import tech.bsdb.data.Scratch;
import tech.bsdb.hash.Signature;
import tech.bsdb.io.Window;

/** What one look-up needs for itself, kept for the next one. Belongs to one thread at a time. */
final class Session {
  final int place;
  final Signature signature = new Signature();
  final Window index = new Window();
  final Scratch scratch = new Scratch();

  Session(int place) {
    this.place = place;
  }

  void close() {
    scratch.close();
  }
}
