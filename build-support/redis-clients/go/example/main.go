package main

import (
	"context"
	"fmt"
	"os"

	"github.com/redis/go-redis/v9"
)

func main() {
	url := os.Getenv("BSDB_URL") // redis://:TOKEN@host:port with --token-file
	if url == "" {
		url = "redis://localhost:6379"
	}
	options, err := redis.ParseURL(url)
	if err != nil {
		panic(err)
	}
	ctx, client := context.Background(), redis.NewClient(options)
	defer client.Close()
	fmt.Println(client.Get(ctx, "apple").Result())
	fmt.Println(client.MGet(ctx, "apple", "plum").Result()) // nil for an absent key
	keys, all := 0, client.Scan(ctx, 0, "", 1000).Iterator()
	for all.Next(ctx) {
		keys++
	}
	fmt.Println(keys, "keys", all.Err())
}
