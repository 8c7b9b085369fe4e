package tech.bsdb.write;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.PrivateKey;
import java.util.ArrayList;
import java.util.List;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.ManifestFile;
import tech.bsdb.format.ManifestSignature;
import tech.bsdb.io.DurableFiles;

/** Signs the manifests of a database where it is, in turn with the builds that replace it. */
public final class Signing {
  private Signing() {}

  /**
   * Signs the manifest of a database, or those of a set and its shards.
   *
   * @throws IllegalArgumentException if the key is not of Ed25519, or a manifest has no content
   *     hashes, so that a signature of it would not cover the content
   */
  public static void sign(Path directory, PrivateKey key) throws IOException {
    Path target = directory.toRealPath();
    WorkDirectory work = Workspace.workIn(target);
    try {
      Workspace.acquireTurn(work, target, () -> {}, Workspace.PATIENCE);
      List<Path> manifests = new ArrayList<>();
      for (String shard : ListedFiles.read(target).shards().keySet()) {
        manifests.add(target.resolve(shard).resolve(Manifest.FILE_NAME));
      }
      manifests.add(target.resolve(Manifest.FILE_NAME));
      List<byte[]> signed = new ArrayList<>();
      for (Path manifest : manifests) {
        signed.add(signed(manifest, key));
      }
      for (int i = 0; i < signed.size(); i++) {
        replace(manifests.get(i), signed.get(i), work.path().resolve("manifest-0.part"));
      }
    } finally {
      work.remove();
    }
  }

  private static byte[] signed(Path manifest, PrivateKey key) throws IOException {
    byte[] bytes = Files.readAllBytes(manifest);
    ManifestFile stated = ManifestFile.decode(manifest, bytes);
    if (stated.manifest().files().stream().anyMatch(file -> file.sha256() == null)) {
      throw new IllegalArgumentException(
          manifest
              + " has no content hashes, because an older version wrote it; a signature would not"
              + " cover the content, so build the database anew");
    }
    return ManifestSignature.sign(bytes, key);
  }

  private static void replace(Path manifest, byte[] signed, Path part) throws IOException {
    Files.copy(manifest, part, StandardCopyOption.COPY_ATTRIBUTES); // its owner and permissions
    DurableFiles.write(part, signed);
    Files.move(part, manifest, StandardCopyOption.ATOMIC_MOVE);
    DurableFiles.forceParent(manifest);
  }
}
