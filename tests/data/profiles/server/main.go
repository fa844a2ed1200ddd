// A small media server to profile: it signs packets and sends them over UDP on the loopback interface.
//
// Two of its parts can be switched off, so that profiles before and after an optimisation can be
// recorded whose causes are known: -nack keeps sent packets for retransmission, -mdns answers name
// queries. It prints the address of its net/http/pprof pages and runs until it is killed, or has
// answered as many as -pages says; then it prints how many packets it sent.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"runtime"
	"sync/atomic"

	"mediaserver/mdns"
	"mediaserver/nack"
	"mediaserver/rtp"
)

func main() {
	streams := flag.Int("streams", 32, "streams to serve")
	withNack := flag.Bool("nack", true, "keep sent packets and send some of them again")
	withMdns := flag.Bool("mdns", true, "answer name queries, one responder a stream")
	listen := flag.String("listen", "127.0.0.1:0", "address of the pages")
	most := flag.Int64("pages", 0, "end once so many pages were answered; 0: never")
	flag.Parse()
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(10000)

	sink, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	for i := 0; i < *streams; i++ {
		var history *nack.History
		if *withNack {
			history = nack.NewHistory()
		}
		go rtp.Serve(sink.LocalAddr().String(), history)
		if *withMdns {
			go mdns.Respond()
		}
	}
	pages, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s/debug/pprof/\n", pages.Addr())
	server := &http.Server{}
	var answered atomic.Int64
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.DefaultServeMux.ServeHTTP(w, r)
		if answered.Add(1) == *most {
			go server.Shutdown(context.Background())
		}
	})
	if err := server.Serve(pages); err != http.ErrServerClosed {
		log.Fatal(err)
	}
	server.Shutdown(context.Background()) // returns when the answer has gone out
	fmt.Printf("{\"packets\": %d}\n", rtp.Sent.Load())
}
