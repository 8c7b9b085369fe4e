// Reads everything back with go-redis, in RESP2 and RESP3.
package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/redis/go-redis/v9"
)

const batch = 1000

var ctx = context.Background()

func must(err error) {
	require(err == nil, "%v", err)
}

func require(holds bool, format string, values ...any) {
	if !holds {
		fmt.Fprintf(os.Stderr, format+"\n", values...)
		os.Exit(1)
	}
}

func refuses(err error, code string) {
	require(err != nil && strings.HasPrefix(err.Error(), code), "found %v, expected %s", err, code)
}

func lines(name string) []string {
	text, err := os.ReadFile(filepath.Join(os.Getenv("BSDB_FOLDER"), name))
	must(err)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

func connect(port string, protocol int, token string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: net.JoinHostPort("127.0.0.1", os.Getenv(port)), Password: token, Protocol: protocol,
	})
}

func checkRecords(client *redis.Client, keys []string, values map[string]string) {
	must(client.Ping(ctx).Err())
	for start := 0; start < len(keys); start += batch {
		some := keys[start:min(start+batch, len(keys))]
		found, err := client.MGet(ctx, some...).Result()
		must(err)
		replies, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for _, key := range some {
				pipe.Get(ctx, key)
			}
			return nil
		})
		must(err)
		for i, key := range some {
			require(found[i] == values[key], "MGET %s: found %v", key, found[i])
			require(replies[i].(*redis.StringCmd).Val() == values[key], "GET %s: found %v", key, replies[i])
		}
	}
	_, err := client.Get(ctx, "absent").Result()
	require(errors.Is(err, redis.Nil), "an absent key: %v", err)
	none, err := client.MGet(ctx, "absent-1", "absent-2").Result()
	require(err == nil && none[0] == nil && none[1] == nil, "absent keys: %v %v", none, err)
	require(client.DBSize(ctx).Val() == int64(len(keys)), "DBSIZE: %v", client.DBSize(ctx))
	scanned := map[string]bool{}
	all := client.Scan(ctx, 0, "", batch).Iterator()
	for all.Next(ctx) {
		_, known := values[all.Val()]
		require(known && !scanned[all.Val()], "SCAN: %s", all.Val())
		scanned[all.Val()] = true
	}
	must(all.Err())
	require(len(scanned) == len(keys), "SCAN: %d keys", len(scanned))
	refuses(client.Set(ctx, "apple", "x", 0).Err(), "READONLY")
}

func checkRows(client *redis.Client, rows map[string]map[string]string) {
	for key, row := range rows {
		found, err := client.HGetAll(ctx, key).Result()
		require(err == nil && maps.Equal(found, row), "HGETALL %s: %v %v", key, found, err)
		name, err := client.HGet(ctx, key, "name").Result()
		require(err == nil && name == row["name"], "HGET %s: %v %v", key, name, err)
		some, err := client.HMGet(ctx, key, "name", "colour").Result()
		require(err == nil && some[0] == row["name"] && some[1] == nil, "HMGET %s: %v %v", key, some, err)
		require(client.HLen(ctx, key).Val() == int64(len(row)), "HLEN %s", key)
	}
	refuses(client.Get(ctx, "1").Err(), "WRONGTYPE")
	refuses(client.HSet(ctx, "1", "name", "x").Err(), "READONLY")
}

func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "github.com/redis/go-redis/v9" {
			return strings.TrimPrefix(module.Version, "v")
		}
	}
	return "?"
}

func main() {
	keys, values := []string{}, map[string]string{}
	for _, line := range lines("records.txt") {
		key, value, _ := strings.Cut(line, " ")
		keys, values[key] = append(keys, key), value
	}
	rows := map[string]map[string]string{}
	for _, line := range lines("rows.tsv") {
		words := strings.Split(line, "\t")
		rows[words[0]] = map[string]string{}
		for i := 1; i < len(words); i += 2 {
			rows[words[0]][words[i]] = words[i+1]
		}
	}
	for _, protocol := range []int{2, 3} {
		refuses(connect("BSDB_PORT", protocol, "").Get(ctx, "apple").Err(), "NOAUTH")
		refuses(connect("BSDB_PORT", protocol, "wrong").Get(ctx, "apple").Err(), "WRONGPASS")
		checkRecords(connect("BSDB_PORT", protocol, os.Getenv("BSDB_TOKEN")), keys, values)
		checkRows(connect("BSDB_ROWS_PORT", protocol, os.Getenv("BSDB_TOKEN")), rows)
	}
	fmt.Printf("ok  go-redis %s: %d,%03d records, %d,%03d rows; MGET, pipelined; RESP2, RESP3\n",
		version(), len(keys)/1000, len(keys)%1000, len(rows)/1000, len(rows)%1000)
}
