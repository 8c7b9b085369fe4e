package tech.bsdb.io;

class MappedEngineTest extends EngineContract {
  @Override
  Engine engine() {
    return new MappedEngine();
  }
}
