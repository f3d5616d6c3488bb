"""Machines of their own as far as programs can tell: a namespace each for network, processes, mounts and host name, a
disk of a few hundred MB, an OpenSSH server with keys of its own. Strop's checkout is not there; the program comes by ssh."""

import os
import pathlib
import subprocess

from tests.long.scene import HOME, STROP, Failure, checked, end, need, require, run, wait_until
from tests.long.wire import Wire

DISK_MB = 700

# What a host's first process does before it becomes the server of ssh.
INIT = r"""set -e
mount --make-rprivate /
hostname "$NAME"
mount -t tmpfs -o "size=${MB}m" none "$PLACE/disk"
mkdir -m 755 "$PLACE/disk/home" && mkdir -m 1777 "$PLACE/disk/tmp"
cp -r "$PLACE/ssh" "$PLACE/disk/home/ssh"
cp "$PLACE/worker" "$PLACE/disk/home/worker"
mkdir "$PLACE/disk/home/python" && mount --bind "$HOME_OF_STROP/.venv" "$PLACE/disk/home/python"
mount --rbind "$PLACE/disk/home" /srv
mount -t tmpfs none "$HOME_OF_STROP"
mount -t tmpfs none /run && mkdir /run/sshd
ip link set lo up
mount --bind "$PLACE/disk/tmp" /tmp
cd /
exec /usr/sbin/sshd -D -e -f /srv/ssh/server
"""

# What `ssh HOST /srv/worker [CORES]` runs. The file `mode` says what is wrong with it.
WORKER = r"""#!/bin/sh
cd /srv && export HOME=/srv STROP_PYTHON=/srv/python/bin/python3 || exit 3
case "$(cat mode 2> /dev/null)" in
    behind) read line; echo '{"strop": "0.0.9", "protocol": 1}'; read line; exit 0 ;;
    swapped) tee -a swapped.log | taskset -c "$(cat core)" strop/bin/strop worker; exit ;;
esac
exec ${1:+taskset -c "$1"} strop/bin/strop worker
"""


class Host:
    def __init__(self, scene, name, public_key):
        self.name, self.place = name, scene.folder / name
        (self.place / "disk").mkdir(parents=True)
        (self.place / "ssh").mkdir()
        (self.place / "worker").write_text(WORKER, "utf-8")
        (self.place / "worker").chmod(0o755)
        checked("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.place / "ssh/host_key")
        (self.place / "ssh/authorized").write_text(public_key, "utf-8")
        (self.place / "ssh/server").write_text(
            "Port 22\nHostKey /srv/ssh/host_key\nAuthorizedKeysFile /srv/ssh/authorized\nPidFile none\nUsePAM no\n"
            "PermitRootLogin prohibit-password\nPasswordAuthentication no\nStrictModes no\nMaxStartups 100\n"
            "ClientAliveInterval 5\nClientAliveCountMax 3\n", "utf-8")
        words = ["unshare", "--net", "--mount", "--pid", "--uts", "--fork", "--kill-child", "--mount-proc",
                 "sh", "-c", INIT]
        variables = {"NAME": name, "PLACE": str(self.place), "HOME_OF_STROP": HOME, "MB": str(DISK_MB),
                     "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
        with open(self.place / "log", "wb") as log:
            self.holder = scene.start(*words, env=variables, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        listening = "Server listening on"
        require(wait_until(lambda: listening in self.log() or self.holder.poll() is not None, 20) and
                listening in self.log(), f"{name} does not start: {self.log()[-200:]}")
        self.init = pathlib.Path(f"/proc/{self.holder.pid}/task/{self.holder.pid}/children").read_text("utf-8").split()[0]

    def log(self):
        return (self.place / "log").read_text("utf-8", "replace")

    def path(self, inside):
        """A file of the host, seen from here."""
        return pathlib.Path(f"/proc/{self.init}/root{inside}")

    def inside(self, *words):
        return ["nsenter", "-t", self.init, "-a", "--wd=/srv", *words]

    def processes(self, part):
        """Of the host, whose command line has this part: {pid here: command line}."""
        namespace, found = os.readlink(f"/proc/{self.init}/ns/pid"), {}
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and os.readlink(entry / "ns/pid_for_children") == namespace:
                    words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                    if part in words:
                        found[int(entry.name)] = words
            except OSError:
                continue
        return found


def bundle_of(scene):
    """A folder with the program as it can be copied anywhere; where it is installed, its own."""
    beside = pathlib.Path(STROP).resolve().parent
    if not (beside / "CMakeCache.txt").exists():
        return beside.parent
    bundle = scene.folder / "bundle"
    if not bundle.exists():
        checked("cmake", "--install", beside, "--prefix", bundle, "--strip")
    return bundle


class Leader:
    """The namespace of who asks, and its lines to the hosts."""

    def __init__(self, scene, names):
        need(["unshare", "nsenter", "ip", "ssh", "ssh-keygen", "sshd", "taskset"],
             "apt-get install openssh-server iproute2 util-linux")
        self.scene, self.ssh = scene, scene.folder / "ssh"
        self.ssh.mkdir(mode=0o700)
        checked("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.ssh / "key")
        self.holder = scene.start("unshare", "--net", "--kill-child", "--fork", "sh", "-c", "ip link set lo up; exec sleep inf")
        require(wait_until(lambda: os.readlink(f"/proc/{self.holder.pid}/ns/net") != os.readlink("/proc/self/ns/net"), 10),
                "there are no network namespaces")
        self.hosts, self.wires, config, known = {}, {}, "", ""
        for number, name in enumerate(names, 1):
            host = Host(scene, name, (self.ssh / "key.pub").read_text("utf-8"))
            near, far = f"10.77.{number}.1", f"10.77.{number}.2"
            self.hosts[name] = host
            self.wires[name] = Wire(scene, self.holder.pid, host.holder.pid, (near, far), seed=number)
            known += f"{far} {(host.place / 'ssh/host_key.pub').read_text('utf-8')}"
            config += (f"Host {name}\n HostName {far}\n User root\n IdentityFile {self.ssh}/key\n BatchMode yes\n"
                       f" UserKnownHostsFile {self.ssh}/known\n GlobalKnownHostsFile /dev/null\n"
                       f" StrictHostKeyChecking yes\n ConnectTimeout 10\n ServerAliveInterval 5\n")
        (self.ssh / "known").write_text(known, "utf-8")
        (self.ssh / "config").write_text(config, "utf-8")

    def words(self, *words):
        return ["nsenter", "-t", str(self.holder.pid), "-n", *map(str, words)]

    def to(self, name, *words):
        return ["ssh", "-F", str(self.ssh / "config"), name, *words]

    def worker(self, name, *cores):
        return " ".join(self.to(name, "/srv/worker", *cores))

    def install(self):
        """The program travels to where it is missing. [name, ...] of these hosts."""
        missing = [name for name in self.hosts if run(*self.words(*self.to(name, "/srv/strop/bin/strop", "--version"))).returncode]
        if not missing:
            return []
        bundle = bundle_of(self.scene)
        for name in missing:
            pack = subprocess.Popen(["tar", "-C", str(bundle), "-cf", "-", "."], stdout=subprocess.PIPE)
            try:
                checked(*self.words(*self.to(name, "mkdir -p /srv/strop && tar -C /srv/strop -xf -")), stdin=pack.stdout)
            finally:
                end(pack)
            if run(*self.words(*self.to(name, "/srv/strop/bin/strop", "--version"))).returncode:
                raise Failure(f"the program does not run on {name} after it was copied there")
        return missing
