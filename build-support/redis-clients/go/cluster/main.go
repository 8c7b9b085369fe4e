// Reads a cluster with go-redis, in RESP2 and RESP3, from primaries and from replicas.
// With the argument "moves", reads until there is a file moves.end, while slots move and versions change.
// With BSDB_WRITABLE in the environment, writes are left out, so that a cluster of Redis can be read.
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const batch = 1000

var (
	ctx    = context.Background()
	keys   []string
	group  []string // keys of one slot
	values = map[string]string{}
)

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

func connect(protocol int, replicas bool, token string) *redis.ClusterClient {
	client := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: []string{net.JoinHostPort("127.0.0.1", os.Getenv("BSDB_PORT"))}, Password: token, Protocol: protocol,
		ReadOnly: replicas,
	})
	client.SetCommandInfoResolver(client.NewDynamicResolver()) // splits MGET as the server's COMMAND tells
	return client
}

func get(client *redis.ClusterClient, keys []string) ([]any, error) {
	replies, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, key := range keys {
			pipe.Get(ctx, key)
		}
		return nil
	})
	found := make([]any, len(replies))
	for i, reply := range replies {
		found[i] = reply.(*redis.StringCmd).Val()
	}
	return found, err
}

func check(client *redis.ClusterClient) {
	defer client.Close()
	must(client.Ping(ctx).Err())
	for start := 0; start < len(keys); start += batch {
		some := keys[start:min(start+batch, len(keys))]
		found, err := get(client, some)
		must(err)
		mget, err := client.MGet(ctx, some...).Result()
		must(err)
		for i, key := range some {
			require(found[i] == values[key], "GET %s: found %v", key, found[i])
			require(mget[i] == values[key], "MGET %s: found %v", key, mget[i])
		}
	}
	for _, key := range keys[:3*batch] {
		value, err := client.Get(ctx, key).Result()
		require(err == nil && value == values[key], "GET %s: %v %v", key, value, err)
	}
	for i := range batch {
		_, err := client.Get(ctx, fmt.Sprint("absent-", i)).Result()
		require(errors.Is(err, redis.Nil), "an absent key: %v", err)
	}
	found, err := client.MGet(ctx, group...).Result()
	must(err)
	for i, key := range group {
		require(found[i] == values[key], "MGET of one slot, %s: %v", key, found[i])
	}
	require(client.DBSize(ctx).Val() == int64(len(keys)), "DBSIZE: %v", client.DBSize(ctx))
	var lock sync.Mutex
	scanned := map[string]bool{}
	must(client.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		all := node.Scan(ctx, 0, "", batch).Iterator()
		for all.Next(ctx) {
			lock.Lock()
			_, known := values[all.Val()]
			require(known && !scanned[all.Val()], "SCAN: %s", all.Val())
			scanned[all.Val()] = true
			lock.Unlock()
		}
		return all.Err()
	}))
	require(len(scanned) == len(keys), "SCAN: %d keys", len(scanned))
	if os.Getenv("BSDB_WRITABLE") == "" {
		refuses(client.Set(ctx, keys[0], "x", 0).Err(), "READONLY")
	}
}

// Counts the replies that redirect a client.
type redirects struct{ count *atomic.Int64 }

func (hook redirects) note(err error) {
	if err != nil && strings.HasPrefix(err.Error(), "MOVED") {
		hook.count.Add(1)
	}
}

func (hook redirects) DialHook(next redis.DialHook) redis.DialHook { return next }

func (hook redirects) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		hook.note(err)
		return err
	}
}

func (hook redirects) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		for _, cmd := range cmds {
			hook.note(cmd.Err())
		}
		return err
	}
}

func move() bool {
	calls, wrong, failed := 0, 0, 0
	var moved atomic.Int64
	tell := func(format string, values ...any) {
		if wrong+failed <= 10 {
			fmt.Fprintf(os.Stderr, "go-redis: "+time.Now().Format(time.TimeOnly)+" "+format+"\n", values...)
		}
	}
	call := func(some []string, found []any, err error) {
		calls++
		if err != nil {
			failed++
			tell("%v", err)
			return
		}
		for i, key := range some {
			if found[i] != values[key] && found[i] != strings.Replace(values[key], "v1", "v2", 1) {
				wrong++
				tell("%s: found %v", key, found[i])
			}
		}
	}
	sample := func(n int) []string {
		some := make([]string, n)
		for i := range some {
			some[i] = keys[rand.Intn(len(keys))]
		}
		return some
	}
	var clients []*redis.ClusterClient
	for protocol, replicas := range map[int]bool{2: false, 3: true} {
		client := connect(protocol, replicas, os.Getenv("BSDB_TOKEN"))
		client.OnNewNode(func(node *redis.Client) { node.AddHook(redirects{&moved}) })
		clients = append(clients, client)
	}
	for {
		if _, err := os.Stat(filepath.Join(os.Getenv("BSDB_FOLDER"), "moves.end")); err == nil {
			break
		}
		for _, client := range clients {
			for _, key := range sample(50) {
				value, err := client.Get(ctx, key).Result()
				call([]string{key}, []any{value}, err)
			}
			some := sample(200)
			found, err := get(client, some)
			call(some, found, err)
			// MGET of several slots is left out: go-redis returns nil for keys of parts that are answered MOVED.
			found, err = client.MGet(ctx, group...).Result()
			call(group, found, err)
		}
	}
	ok, word := calls > 0 && wrong+failed == 0, "ok"
	if !ok {
		word = "FAILED"
	}
	fmt.Printf("%s  go-redis %s during moves: %s calls, %d wrong, %d failed; %s redirects\n",
		word, version(), count(calls), wrong, failed, count(int(moved.Load())))
	return ok
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

func count(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", count(n/1000), n%1000)
}

func main() {
	text, err := os.ReadFile(filepath.Join(os.Getenv("BSDB_FOLDER"), "records.txt"))
	must(err)
	for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		key, value, _ := strings.Cut(line, " ")
		keys, values[key] = append(keys, key), value
		if strings.HasPrefix(key, "{group-7}") {
			group = append(group, key)
		}
	}
	if len(os.Args) > 1 && os.Args[1] == "moves" {
		if !move() {
			os.Exit(1)
		}
		return
	}
	for _, protocol := range []int{2, 3} {
		refuses(connect(protocol, false, "wrong").Get(ctx, keys[0]).Err(), "WRONGPASS")
		for _, replicas := range []bool{false, true} {
			check(connect(protocol, replicas, os.Getenv("BSDB_TOKEN")))
		}
	}
	fmt.Printf("ok  go-redis %s: %s records; MGET, pipelined; replicas; RESP2, RESP3\n", version(), count(len(keys)))
}
