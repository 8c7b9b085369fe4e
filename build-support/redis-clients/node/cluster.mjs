// Reads a cluster with node-redis, in RESP2 and RESP3, from primaries and from replicas.
// With the argument "moves", reads until there is a file moves.end, while slots move and versions change.
// With BSDB_WRITABLE in the environment, writes are left out, so that a cluster of Redis can be read.
import assert from "node:assert/strict";
import { subscribe } from "node:diagnostics_channel";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createCluster } from "redis";

const env = process.env;
const BATCH = 1000;
const records = new Map(readFileSync(`${env.BSDB_FOLDER}/records.txt`, "utf8").trimEnd().split("\n").map((line) => {
  const space = line.indexOf(" ");
  return [line.slice(0, space), line.slice(space + 1)];
}));
const keys = [...records.keys()];
const group = keys.filter((key) => key.startsWith("{group-7}")); // keys of one slot
const absent = Array.from({ length: BATCH }, (_, i) => `absent-${i}`);
const values = (some) => some.map((key) => records.get(key));
const { version } = createRequire(import.meta.url)("redis/package.json");
const count = (n) => n.toLocaleString("en-US");

const connect = (RESP, useReplicas, password = env.BSDB_TOKEN) =>
  createCluster({
    rootNodes: [{ url: `redis://127.0.0.1:${env.BSDB_PORT}` }], defaults: { password, RESP }, RESP, useReplicas,
  })
    .on("error", () => {})
    .connect();

function same(found, expected, what) {
  assert.equal(found.length, expected.length, what);
  for (let i = 0; i < found.length; i++) {
    if (found[i] !== expected[i]) assert.fail(`${what}: found ${found[i]}, expected ${expected[i]}`);
  }
}

async function check(RESP, useReplicas) {
  await assert.rejects(connect(RESP, useReplicas, "wrong"));
  const cluster = await connect(RESP, useReplicas);
  assert.deepEqual([cluster.masters.length, cluster.replicas.length], [3, useReplicas ? 3 : 0]);
  for (let start = 0; start < keys.length; start += BATCH) {
    const some = keys.slice(start, start + BATCH);
    same(await Promise.all(some.map((key) => cluster.get(key))), values(some), "GET, pipelined");
    if (start < 3 * BATCH) for (const key of some) assert.equal(await cluster.get(key), records.get(key));
  }
  same(await Promise.all(absent.map((key) => cluster.get(key))), absent.map(() => null), "absent keys");
  same(await cluster.mGet(group), values(group), "MGET of one slot");
  const some = keys.slice(0, BATCH);
  same(await cluster.mGet([...some, ...absent]), [...values(some), ...absent.map(() => null)], "MGET");
  assert.equal(await cluster.exists([...some, ...absent]), BATCH);
  assert.equal(await cluster.dbSize(), keys.length);
  const scanned = [];
  for (const master of cluster.masters) {
    const client = await cluster.nodeClient(master);
    for await (const found of client.scanIterator({ COUNT: BATCH })) scanned.push(...found);
  }
  same(scanned.sort(), [...keys].sort(), "SCAN");
  if (!env.BSDB_WRITABLE) await assert.rejects(cluster.set(keys[0], "x"), /READONLY/);
  cluster.destroy();
}

async function move() {
  let [calls, wrong, failed, redirects] = [0, 0, 0, 0];
  subscribe("node-redis:error", ({ error }) => {
    if (error?.message?.startsWith("MOVED")) redirects++;
  });
  const tell = (text) => {
    if (wrong + failed <= 10) console.error("node-redis:", new Date().toTimeString().slice(0, 8), text);
  };
  const call = async (some, read) => {
    calls++;
    try {
      const found = await read();
      some.forEach((key, i) => {
        const expected = records.get(key);
        if (found[i] === expected || found[i] === expected.replace("v1", "v2")) return;
        wrong++;
        tell(`${key}: found ${found[i]}`);
      });
    } catch (error) {
      failed++;
      tell(`${error}`);
    }
  };
  const random = (n) => Array.from({ length: n }, () => keys[Math.floor(Math.random() * keys.length)]);
  const clusters = [await connect(2, false), await connect(3, true)];
  while (!existsSync(`${env.BSDB_FOLDER}/moves.end`)) {
    for (const cluster of clusters) {
      for (const key of random(50)) await call([key], async () => [await cluster.get(key)]);
      const [some, others] = [random(200), random(200)];
      await call(some, () => Promise.all(some.map((key) => cluster.get(key))));
      await call(others, () => cluster.mGet(others));
      await call(group, () => cluster.mGet(group));
    }
  }
  for (const cluster of clusters) cluster.destroy();
  const ok = calls > 0 && wrong + failed === 0;
  console.log(`${ok ? "ok" : "FAILED"}  node-redis ${version} during moves: ` +
    `${count(calls)} calls, ${wrong} wrong, ${failed} failed; ${count(redirects)} redirects`);
  process.exitCode = ok ? 0 : 1;
}

if (process.argv[2] === "moves") {
  await move();
} else {
  for (const RESP of [2, 3]) for (const useReplicas of [false, true]) await check(RESP, useReplicas);
  console.log(`ok  node-redis ${version}: ${count(keys.length)} records; MGET, pipelined; replicas; RESP2, RESP3`);
}
