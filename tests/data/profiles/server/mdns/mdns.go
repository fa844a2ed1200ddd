// Package mdns asks for names and answers, over UDP on the loopback interface.
package mdns

import (
	"log"
	"net"
	"strings"
	"time"
)

const (
	interval = 5 * time.Millisecond
	queries  = 2
)

// Respond sends queries to a socket of its own and answers them.
func Respond() {
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go ask(socket.LocalAddr().String())
	readLoop(socket)
}

func ask(address string) {
	connection, err := net.Dial("udp", address)
	if err != nil {
		log.Fatal(err)
	}
	for range time.Tick(interval) {
		for i := 0; i < queries; i++ {
			connection.Write([]byte("camera.studio.local,viewer.office.local"))
		}
	}
}

func readLoop(socket net.PacketConn) {
	buffer := make([]byte, 1500)
	for {
		n, sender, err := socket.ReadFrom(buffer)
		if err != nil {
			return
		}
		for _, name := range parse(string(buffer[:n])) {
			if strings.HasSuffix(name, ".nowhere") {
				socket.WriteTo([]byte(name), sender)
			}
		}
	}
}

func parse(query string) []string {
	names := strings.Split(query, ",")
	for i, name := range names {
		names[i] = strings.ToLower(strings.TrimSpace(name))
	}
	return names
}
