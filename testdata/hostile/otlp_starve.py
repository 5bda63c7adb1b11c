"""A server of OTLP that is down for SECONDS, and then counts the collections of the process NAME:
otlp_starve.py PORT SECONDS NAME FILE."""
import http.server, sys, time

port, down, name, path = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3].encode(), sys.argv[4]
began, count, others = time.monotonic(), 0, 0

def fields(b):
    """The length-delimited fields of a message."""
    i = 0
    def number():
        nonlocal i
        n = shift = 0
        while True:
            n |= (b[i] & 127) << shift; shift += 7; i += 1
            if b[i - 1] < 128: return n
    while i < len(b):
        key = number(); size = number()
        if key & 7 != 2: raise ValueError(key)
        yield b[i:i + size]; i += size

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global count, others
        body = self.rfile.read(int(self.headers["Content-Length"]))
        up = time.monotonic() - began > down
        if up:
            for resource in fields(body):
                n = resource.count(b"dotnet.gc.number")
                if name in resource: count += n
                else: others += n
            with open(path, "w") as f: f.write("%d %d\n" % (count, others))
        self.send_response(200 if up else 503); self.send_header("Content-Length", "0"); self.end_headers()
    def log_message(self, *_): pass

http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
