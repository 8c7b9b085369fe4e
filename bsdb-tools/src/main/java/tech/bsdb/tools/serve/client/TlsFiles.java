package tech.bsdb.tools.serve.client;

import java.nio.file.Path;

/**
 * The files of the certificate chain and its private key, both PEM.
 *
 * @param certificate the certificate followed by its chain
 * @param key the key, unencrypted PKCS#8
 */
public record TlsFiles(Path certificate, Path key) {}
