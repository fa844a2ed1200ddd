// A small media server to profile: it signs packets and sends them over UDP on the loopback interface.
//
// Two of its parts can be switched off, so that profiles before and after an optimisation can be
// recorded whose causes are known: -nack keeps sent packets for retransmission, -mdns answers name
// queries. It prints the address of its net/http/pprof pages and runs until it is killed, or as long
// as -for says; then it prints how many packets it sent.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"time"

	"mediaserver/mdns"
	"mediaserver/nack"
	"mediaserver/rtp"
)

func main() {
	streams := flag.Int("streams", 32, "streams to serve")
	withNack := flag.Bool("nack", true, "keep sent packets and send some of them again")
	withMdns := flag.Bool("mdns", true, "answer name queries, one responder a stream")
	listen := flag.String("listen", "127.0.0.1:0", "address of the pages")
	lasting := flag.Duration("for", 0, "how long to run; 0: until killed")
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
	if *lasting > 0 {
		time.AfterFunc(*lasting, func() {
			fmt.Printf("{\"packets\": %d}\n", rtp.Sent.Load())
			os.Exit(0)
		})
	}
	log.Fatal(http.Serve(pages, nil))
}
