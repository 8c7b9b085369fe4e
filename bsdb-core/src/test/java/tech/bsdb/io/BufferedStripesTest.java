package tech.bsdb.io;

/** Buffered reads where no system calls can be made. */
class BufferedStripesTest extends EngineContract {
  @Override
  Engine engine() {
    return new BufferedEngine(null);
  }
}
