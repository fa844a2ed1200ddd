// Package nack keeps the packets that were sent, and sends some of them again.
package nack

import (
	"net"
	"sync"
)

const (
	kept       = 512
	resendEach = 4
)

// History is a ring of copies of the packets sent last.
type History struct {
	mutex   sync.Mutex
	packets [kept][]byte
	next    int
}

// NewHistory is an empty ring.
func NewHistory() *History {
	return &History{}
}

// Remember copies a packet into the ring.
func (h *History) Remember(packet []byte) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.packets[h.next%kept] = append([]byte(nil), packet...)
	h.next++
}

// Resend sends every fourth of the packets of the last burst again.
func (h *History) Resend(connection net.Conn, burst int) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for i := 0; i < burst; i += resendEach {
		if packet := h.packets[(h.next+kept-1-i)%kept]; packet != nil {
			connection.Write(packet)
		}
	}
}
