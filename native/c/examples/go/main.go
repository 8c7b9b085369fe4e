// Looks up keys in a bsdb database from Go: lookup DIRECTORY KEY...
package main

// #cgo pkg-config: bsdb
// #include <bsdb.h>
// #include <stdlib.h>
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"
)

// Database is an open database. Any number of goroutines can use it at once.
type Database struct{ handle *C.bsdb_database }

// Open opens a database, a set of shards, or the current version of a store.
func Open(path string) (*Database, error) {
	text := C.CString(path)
	defer C.free(unsafe.Pointer(text))
	var db Database
	var failure *C.bsdb_error
	if C.bsdb_open(text, nil, &db.handle, &failure) < 0 {
		return nil, take(failure)
	}
	return &db, nil
}

// Close closes the database. No lookup may be under way.
func (db *Database) Close() {
	C.bsdb_close(db.handle)
	db.handle = nil
}

// Get returns a copy of the value of a key, and whether there is one.
func (db *Database) Get(key []byte) ([]byte, bool, error) {
	var view C.bsdb_view
	var failure *C.bsdb_error
	data := unsafe.Pointer(unsafe.SliceData(key))
	switch status := C.bsdb_get_view(db.handle, data, C.size_t(len(key)), &view, &failure); {
	case status < 0:
		return nil, false, take(failure)
	case status == C.BSDB_ABSENT:
		return nil, false, nil
	}
	defer C.bsdb_release_views(&view, 1)
	return copied(view), true, nil
}

// GetMany returns copies of the values of many keys: nil for a key that is absent.
func (db *Database) GetMany(keys [][]byte) ([][]byte, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	// The array of keys holds pointers to memory of Go, which must be pinned for the call.
	var pinner runtime.Pinner
	defer pinner.Unpin()
	pointers := make([]unsafe.Pointer, len(keys))
	lengths := make([]C.size_t, len(keys))
	for i, key := range keys {
		if len(key) > 0 {
			pinner.Pin(&key[0])
			pointers[i] = unsafe.Pointer(&key[0])
		}
		lengths[i] = C.size_t(len(key))
	}
	views := make([]C.bsdb_view, len(keys))
	var failure *C.bsdb_error
	if C.bsdb_get_batch(db.handle, &pointers[0], &lengths[0], C.size_t(len(keys)), &views[0], &failure) < 0 {
		return nil, take(failure)
	}
	defer C.bsdb_release_views(&views[0], C.size_t(len(views)))
	values := make([][]byte, len(keys))
	for i, view := range views {
		if view.data != nil {
			values[i] = copied(view)
		}
	}
	return values, nil
}

// copied does not use C.GoBytes, which takes at most 2 GiB and returns nil for no bytes.
func copied(view C.bsdb_view) []byte {
	value := make([]byte, int(view.length))
	copy(value, unsafe.Slice((*byte)(unsafe.Pointer(view.data)), int(view.length)))
	return value
}

func take(failure *C.bsdb_error) error {
	defer C.bsdb_error_free(failure)
	return errors.New(C.GoString(C.bsdb_error_message(failure)))
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: lookup DIRECTORY KEY...")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(path string, names []string) error {
	db, err := Open(path)
	if err != nil {
		return err
	}
	defer db.Close()
	keys := make([][]byte, len(names))
	for i, name := range names {
		keys[i] = []byte(name)
		value, found, err := db.Get(keys[i])
		switch {
		case err != nil:
			return err
		case found:
			fmt.Printf("%s = %s\n", name, value)
		default:
			fmt.Printf("%s is absent\n", name)
		}
	}
	values, err := db.GetMany(keys)
	if err != nil {
		return err
	}
	found := 0
	for _, value := range values {
		if value != nil {
			found++
		}
	}
	fmt.Printf("%d of %d keys found\n", found, len(keys))
	return nil
}
