// Package rtp makes packets, signs them and sends them.
package rtp

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/binary"
	"log"
	"net"
	"sync/atomic"
	"time"

	"mediaserver/nack"
)

const (
	interval = 20 * time.Millisecond
	burst    = 8
	size     = 1200
)

// Sent counts the packets that all streams have sent.
var Sent atomic.Int64

// Serve sends bursts of packets to an address until the program ends; history may be nil.
func Serve(address string, history *nack.History) {
	connection, err := net.Dial("udp", address)
	if err != nil {
		log.Fatal(err)
	}
	sequence := uint64(0)
	for range time.Tick(interval) {
		for i := 0; i < burst; i++ {
			sequence++
			packet := sign(payload(sequence))
			connection.Write(packet)
			Sent.Add(1)
			if history != nil {
				history.Remember(packet)
			}
		}
		if history != nil {
			history.Resend(connection, burst)
		}
	}
}

func payload(sequence uint64) []byte {
	packet := make([]byte, size, size+sha1.Size)
	binary.BigEndian.PutUint64(packet, sequence)
	return packet
}

func sign(packet []byte) []byte {
	code := hmac.New(sha1.New, []byte("key of the stream"))
	code.Write(packet)
	return code.Sum(packet)
}
