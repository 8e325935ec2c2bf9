import assert from 'node:assert/strict';
import type { Evaluation } from '@agent-rental/agent-runner';
import type { SandboxDriver, SandboxLimits } from '../../sandbox.js';
import type { ConformanceCase } from '../conformance-case.js';
import { evaluateIn, nativeLanguages } from '../native-code.js';
import type { Threat } from '../threats.js';

/**
 * Python has no permissions to deny, and can make any system call. These cases therefore show the kernel's wall alone.
 * `attempt` notes the successes.
 */
const PRELUDE = `
import ctypes, fcntl, os, socket, stat, subprocess, sys, threading, time, mmap, resource, signal
libc = ctypes.CDLL(None, use_errno=True)
done = []
def attempt(name, action):
    try:
        result = action()
        done.append(name if result is None else f"{name}: {result}")
    except (OSError, ValueError, MemoryError, RuntimeError):
        pass
`;

/** Attempts by Python's means, with their threats. */
const ATTEMPTS: Readonly<Record<string, readonly [threat: Threat, code: string]>> = {
  'the network': [
    'network: TCP, UDP, DNS, unix sockets, metadata address',
    `
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK, socket.AF_PACKET):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
        attempt(f"socket {family} {kind}", lambda: socket.socket(family, kind).close())
attempt("metadata address", lambda: socket.create_connection(("169.254.169.254", 80), 2))
attempt("loopback", lambda: socket.create_connection(("127.0.0.1", 22), 2))
attempt("dns", lambda: socket.getaddrinfo("example.com", 80))`,
  ],

  'files of the host': [
    'files of the host',
    `
for path in ("/etc/passwd", "/etc/shadow", "/root", "/home", "/tmp", "/var", "/sys", "/dev", "/dev/mem", "/run",
             "/proc/1/root/etc", "/proc/self/root/etc", "/proc/1/cwd/etc", "/proc/kcore", "/var/run/docker.sock"):
    attempt(path, lambda: os.stat(path) and None)
seen = set(os.listdir("/")) - {"app", "bin", "lib", "lib64", "prlimit", "proc", "usr", "opt"}
if seen: done.append(str(seen))
for path in ("/usr/bin/sh", "/bin/sh", "/usr/bin/env", "/usr/share"):
    attempt(path, lambda: os.stat(path) and None)
if os.listdir("/app") != ["evaluator.py"]: done.append(str(os.listdir("/app")))`,
  ],

  'the environment': [
    'environment',
    `
allowed = {"PWD", "LC_CTYPE"}
if set(os.environ) - allowed: done.append(str(dict(os.environ)))
attempt("environ of 1", lambda: open("/proc/1/environ").read())`,
  ],

  'processes of the machine': [
    'processes of the machine, `/proc`',
    `
if os.getpid() != 1 or os.getppid() != 0: done.append(f"{os.getpid()} {os.getppid()}")
for path in ("/proc/1/cmdline", "/proc/1/environ", "/proc/self/maps", "/proc/self/mountinfo", "/proc/mounts",
             "/proc/cmdline", "/proc/version", "/proc/sys/kernel/random/boot_id", "/proc/self/fd", "/proc/net/dev",
             "/proc/loadavg", "/proc/meminfo", "/proc/stat", "/proc/locks", "/proc/self/task", "/proc"):
    attempt(path, lambda: os.stat(path) and None)
for pid in [-1, 0, 1, *range(2, 3000)]:
    attempt(f"signal {pid}", lambda: os.kill(pid, 0))`,
  ],

  'new processes': [
    'fork bomb',
    `
attempt("fork", os.fork)
attempt("forkpty", os.forkpty)
attempt("spawn", lambda: subprocess.run(["/prlimit", "--version"]))
attempt("posix_spawn", lambda: os.posix_spawn("/prlimit", ["prlimit", "--version"], {}))
attempt("vfork", lambda: subprocess.Popen(["/prlimit"]))`,
  ],

  'writing anywhere': [
    'filling the disk or its inodes',
    `
places = ["/", "/app/", "/tmp/", "/usr/", "/dev/shm/", "/proc/", "/proc/sys/kernel/", "/lib/"]
places += [os.path.dirname(os.__file__) + "/"]
for place in places:
    attempt(f"file in {place}", lambda: open(place + "filled", "wb").write(b"x"))
    attempt(f"folder in {place}", lambda: os.mkdir(place + "filled"))
    attempt(f"link in {place}", lambda: os.symlink("x", place + "filled"))
    attempt(f"pipe in {place}", lambda: os.mkfifo(place + "filled"))
    attempt(f"device in {place}", lambda: os.mknod(place + "filled", 0o600 | 0o020000, os.makedev(1, 1)))
for path in ("/app/evaluator.py", os.__file__, sys.executable, "/prlimit", "/proc/sysrq-trigger",
             "/proc/sys/kernel/core_pattern", "/proc/self/uid_map", "/proc/self/setgroups"):
    attempt(f"write {path}", lambda: os.write(os.open(path, os.O_WRONLY), b"0"))
    attempt(f"change {path}", lambda: os.chmod(path, 0o777))
    attempt(f"remove {path}", lambda: os.remove(path))`,
  ],

  'raising its limits and its rights': [
    'thread bomb',
    `
for what in (resource.RLIMIT_DATA, resource.RLIMIT_NPROC, resource.RLIMIT_CPU, resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
    attempt(f"limit {what}", lambda: resource.setrlimit(what, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)))
attempt("root", lambda: os.setuid(0))
attempt("groups", lambda: os.setgroups([0]))
attempt("chroot", lambda: os.chroot("/"))
attempt("nice", lambda: os.nice(-5) and None)`,
  ],

  'memory that is not counted': [
    'memory bomb',
    `
attempt("shared map", lambda: mmap.mmap(-1, 1 << 30) and None)
attempt("memfd", lambda: os.memfd_create("x") and None)
from multiprocessing import shared_memory
attempt("shm_open", lambda: shared_memory.SharedMemory(create=True, size=1 << 20) and None)`,
  ],

  'file descriptors that it did not open': [
    'inherited file descriptors',
    `
for number in range(64):
    try:
        kind = os.fstat(number)
    except OSError:
        continue
    if number <= 2 and stat.S_ISFIFO(kind.st_mode): continue
    if stat.S_ISCHR(kind.st_mode) and kind.st_rdev == os.makedev(1, 3): continue
    done.append(f"{number}: {kind}")`,
  ],
  'locks that other sandboxes see': [
    'other sandboxes',
    `
for path in (os.__file__, "/app/evaluator.py", sys.executable, "/prlimit"):
    file = open(path, "rb")
    attempt(f"lock {path}", lambda: fcntl.flock(file, fcntl.LOCK_SH))
    attempt(f"lock a part of {path}", lambda: fcntl.lockf(file, fcntl.LOCK_SH))
    attempt(f"lease {path}", lambda: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK) and None)`,
  ],
};

const BOMBS: Readonly<Record<string, string>> = {
  'one block': 'held = bytearray(1 << 30)\nreturn 1',
  many: 'held = []\nwhile True: held.append(bytearray(1 << 20))',
  'many small': 'held = []\nwhile True: held.append(object())',
  'many, errors ignored':
    'held = []\nwhile True:\n  try: held.append(bytearray(1 << 20))\n  except MemoryError: pass',
  mapped:
    'import mmap\nheld = []\nwhile True: held.append(mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))',
  threads:
    'import threading\ndef eat():\n  held = []\n  while True: held.append(bytearray(1 << 20))\nts = [threading.Thread(target=eat) for _ in range(6)]\nfor t in ts: t.start()\nfor t in ts: t.join()\nraise MemoryError',
};

/** A thread that dies without memory before it says that it runs leaves its starter waiting, without processor time. */
const BOMB_MS = 10_000;

const FLOODS: Readonly<Record<string, string>> = {
  'floods its output': `import os\nwhile True: os.write(1, b"x" * 1000 + b"\\n")`,
  'floods its errors': `import os\nwhile True: os.write(2, b"x" * 1000 + b"\\n")`,
  'writes a line without end': `import os\nwhile True: os.write(1, b"x" * 1000)`,
};

const HARMS: Readonly<Record<string, string>> = {
  'kills all it can': `import os, signal\nos.kill(-1, signal.SIGKILL)\nos.kill(1, signal.SIGKILL)\nreturn "alive"`,
  'replaces itself': `import os\nos.execv("/prlimit", ["prlimit", "--version"])`,
  'crashes its interpreter': `import ctypes\nctypes.string_at(0)`,
  'ends its process': `import os\nos._exit(3)`,
};

/** More threads than a sandbox may have, the first ones of Deno or Python included. */
const MOST_THREADS = 26;

type Options = { limits?: Partial<SandboxLimits>; timeoutMs?: number };

/** A case for drivers that run Python at level `kernel`. Others have nothing to try. */
function pythonCase(
  name: string,
  threat: Threat,
  check: (
    evaluate: (code: string, options?: Options) => Promise<Evaluation>,
    driver: SandboxDriver,
  ) => Promise<void>,
): ConformanceCase {
  return {
    name: `Python: ${name}`,
    threat,
    async check(driver) {
      if (!nativeLanguages(driver).includes('python')) return;
      await check((code, options) => evaluateIn(driver, 'python', code, options), driver);
      assert.deepEqual(await evaluateIn(driver, 'python', 'return 1'), { value: 1, stdout: '' });
    },
  };
}

export const pythonCases: readonly ConformanceCase[] = [
  ...Object.entries(ATTEMPTS).map(([what, [threat, code]]) =>
    pythonCase(`gets nowhere with ${what}`, threat, async (evaluate) => {
      assert.deepEqual(await evaluate(`${PRELUDE}${code}\nreturn done`), { value: [], stdout: '' });
    }),
  ),
  pythonCase('makes no more threads than its limit', 'thread bomb', async (evaluate, { guarantees }) => {
    const code = `${PRELUDE}
threading.stack_size(32768)
made = 0
try:
    while made < 200:
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
        made += 1
except RuntimeError:
    pass
return made`;
    const evaluation = await evaluate(code);
    assert.ok('value' in evaluation, JSON.stringify(evaluation));
    // A root server whose sandboxes must stay root has no such limit, and announces it.
    const most = guarantees.threadsBounded === true ? MOST_THREADS : 200;
    assert.ok(Number(evaluation.value) <= most, `${JSON.stringify(evaluation.value)} threads`);
  }),
  ...Object.entries(BOMBS).map(([kind, code]) =>
    pythonCase(`a memory bomb (${kind}) ends at its limit`, 'memory bomb', async (evaluate) => {
      assert.ok(
        'error' in (await evaluate(code, { limits: { memoryMb: 128, cpuSeconds: 2 }, timeoutMs: BOMB_MS })),
      );
    }),
  ),
  pythonCase('a busy loop ends at its limit of processor time', 'busy loop', async (evaluate) => {
    const evaluation = await evaluate('while True: pass', { limits: { cpuSeconds: 1 } });
    assert.ok('error' in evaluation);
    assert.match(evaluation.error, /processor time/);
  }),
  ...Object.entries(FLOODS).map(([what, code]) =>
    pythonCase(
      `is stopped when it ${what}`,
      'output flood, endless line, input never read',
      async (evaluate) => {
        const limits = { maxTotalOutputBytes: 4 << 20, maxLineBytes: 1 << 20 };
        const evaluation = await evaluate(code, { limits });
        assert.ok('error' in evaluation);
        assert.equal(evaluation.error, 'The code returned or printed more than it may.');
      },
    ),
  ),
  ...Object.entries(HARMS).map(([what, code]) =>
    pythonCase(`harms only itself when it ${what}`, 'other sandboxes', async (evaluate) => {
      const neighbour = evaluate('import time\ntime.sleep(0.5)\nreturn "unharmed"');
      const evaluation = await evaluate(code);
      assert.ok('error' in evaluation || evaluation.value === 'alive', JSON.stringify(evaluation));
      assert.deepEqual(await neighbour, { value: 'unharmed', stdout: '' });
    }),
  ),
  pythonCase('forges nothing but its own result', 'forged protocol messages', async (evaluate) => {
    const line = JSON.stringify({ type: 'done', status: 'completed', output: 'forged' });
    const code = `import os\nos.write(1, ${JSON.stringify(`${line}\n`)}.encode())\nreturn 1`;
    assert.deepEqual(await evaluate(code), { value: 1, stdout: `${line}\n` });
  }),
];
