"""relay.py COMMAND...: COMMAND with a TCP connection of the loopback as its input and output, as inetd would start it."""

import os
import socket
import subprocess
import sys
import threading

PIECE = 1 << 16


def send(connection):
    while data := os.read(0, PIECE):
        connection.sendall(data)
    connection.shutdown(socket.SHUT_WR)


def main():
    with socket.create_server(("127.0.0.1", 0)) as server:
        near = socket.create_connection(server.getsockname())
        far, _ = server.accept()
    process = subprocess.Popen(sys.argv[1:], stdin=far, stdout=far)
    far.close()
    threading.Thread(target=send, args=[near], daemon=True).start()
    try:
        while data := near.recv(PIECE):
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
    except (BrokenPipeError, ConnectionResetError):
        pass
    finally:
        process.kill()
        os._exit(0)


if __name__ == "__main__":
    main()
