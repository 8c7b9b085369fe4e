// Scans all keys with node-redis 4, which keeps cursors in numbers: in the order of the files, and of the keys.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createClient } from "redis4";

const env = process.env;
const keys = readFileSync(`${env.BSDB_FOLDER}/records.txt`, "utf8").trimEnd().split("\n").map((line) => line.split(" ")[0]);
for (const port of [env.BSDB_PORT, env.BSDB_ORDERED_PORT]) {
  const client = createClient({ socket: { port: Number(port) }, password: env.BSDB_TOKEN });
  await client.connect();
  for (const MATCH of ["*", "key-*"]) {
    const scanned = [];
    for await (const key of client.scanIterator({ COUNT: 1000, MATCH })) scanned.push(key);
    assert.deepEqual(scanned.sort(), keys.filter((key) => MATCH === "*" || key.startsWith("key-")).sort());
  }
  await client.quit();
}
const { version } = createRequire(import.meta.url)("redis4/package.json");
console.log(`ok  node-redis ${version}: SCAN of ${keys.length.toLocaleString("en-US")} keys, in both orders`);
