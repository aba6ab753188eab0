// A peer in benches: an informer of client-go that syncs an empty cache of all pods, and prints what it took.
//
//	client-go-peer URL json|protobuf
//
// The last line of its output is a JSON object, as benches/src/sync.rs reads it. scripts/peers.sh builds it.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	goruntime "runtime"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// settling is the pause between a sync and the reading of its memory, in which background work ends.
const settling = time.Second

// limit is the longest that a sync may take.
const limit = 5 * time.Minute

// duration is a time span in the form of the benches.
type duration struct {
	Secs  int64 `json:"secs"`
	Nanos int64 `json:"nanos"`
}

// answer is a digest of a cache's contents.
type answer struct {
	Objects int    `json:"objects"`
	Digest  string `json:"digest"`
}

// measured is what a sync took.
type measured struct {
	Sync          duration `json:"sync"`
	CPU           duration `json:"cpu"`
	ResidentBytes int64    `json:"resident_bytes"`
	PeakBytes     int64    `json:"peak_bytes"`
	// HeapBytes is what is on the heap after a collection of garbage.
	HeapBytes uint64 `json:"heap_bytes"`
	Answer    answer `json:"answer"`
}

func main() {
	if len(os.Args) != 3 {
		check(fmt.Errorf("usage: client-go-peer URL json|protobuf"))
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	config, err := configOf(os.Args[1], os.Args[2])
	check(err)
	client, err := kubernetes.NewForConfig(config)
	check(err)
	informer := informers.NewSharedInformerFactory(client, 0).Core().V1().Pods().Informer()

	before := processorTime()
	start := time.Now()
	go informer.Run(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		check(fmt.Errorf("the cache did not sync within %s", limit))
	}
	took := time.Since(start)
	time.Sleep(settling)
	result := measured{
		Sync:          durationOf(took),
		CPU:           durationOf(processorTime() - before),
		ResidentBytes: status("VmRSS"),
		PeakBytes:     status("VmHWM"),
		Answer:        answerOf(informer.GetStore().List()),
	}
	result.HeapBytes = heap()
	goruntime.KeepAlive(informer)
	check(json.NewEncoder(os.Stdout).Encode(result))
}

// configOf returns the configuration of a client of a server, which asks for an encoding.
func configOf(url, encoding string) (*rest.Config, error) {
	config := &rest.Config{Host: url}
	switch encoding {
	case "json":
		config.ContentType = runtime.ContentTypeJSON
	case "protobuf":
		config.ContentType = runtime.ContentTypeProtobuf
		config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	default:
		return nil, fmt.Errorf("no encoding %q: json or protobuf", encoding)
	}
	return config, nil
}

// answerOf returns the digest of the keys and versions of objects, in the order of both.
func answerOf(objects []any) answer {
	entries := make([][2]string, 0, len(objects))
	for _, object := range objects {
		accessor, err := meta.Accessor(object)
		check(err)
		key := accessor.GetNamespace() + "/" + accessor.GetName()
		entries = append(entries, [2]string{key, accessor.GetResourceVersion()})
	}
	sort.Slice(entries, func(a, b int) bool {
		if entries[a][0] != entries[b][0] {
			return entries[a][0] < entries[b][0]
		}
		return entries[a][1] < entries[b][1]
	})
	digest := sha256.New()
	for _, entry := range entries {
		fmt.Fprintf(digest, "%s@%s\n", entry[0], entry[1])
	}
	return answer{Objects: len(entries), Digest: fmt.Sprintf("%x", digest.Sum(nil))}
}

// processorTime returns what this process has used so far, user and system.
func processorTime() time.Duration {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// heap returns the bytes that are on the heap after a collection of garbage.
func heap() uint64 {
	goruntime.GC()
	var stats goruntime.MemStats
	goruntime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// status returns a field of /proc/self/status, in bytes.
func status(field string) int64 {
	text, err := os.ReadFile("/proc/self/status")
	check(err)
	for _, line := range strings.Split(string(text), "\n") {
		if value, found := strings.CutPrefix(line, field+":"); found {
			kilobytes, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			check(err)
			return kilobytes * 1024
		}
	}
	check(fmt.Errorf("/proc/self/status has no %s", field))
	return 0
}

func durationOf(span time.Duration) duration {
	return duration{Secs: int64(span / time.Second), Nanos: int64(span % time.Second)}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "client-go-peer:", err)
		os.Exit(1)
	}
}
