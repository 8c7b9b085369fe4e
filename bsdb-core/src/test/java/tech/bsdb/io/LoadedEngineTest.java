package tech.bsdb.io;

/** Files in memory, in the memory of the kernel where it can be asked. */
class LoadedEngineTest extends EngineContract {
  @Override
  Engine engine() {
    return new LoadedEngine();
  }
}
