module mediaserver

go 1.21
