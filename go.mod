module github.com/gclog/gclog

go 1.26
