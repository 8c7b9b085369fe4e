package tech.bsdb.io;

/** Files in memory where no system calls can be made. */
class LoadedBuffersTest extends EngineContract {
  @Override
  Engine engine() {
    return new LoadedEngine(null);
  }
}
