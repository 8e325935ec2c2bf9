import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Evaluation } from '@agent-rental/agent-runner';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBubblewrapDriver } from './bubblewrap-driver.js';
import { evaluateInSandbox } from './evaluate-in-sandbox.js';
import { onHardenedMachine } from './hardened-machine.test-support.js';
import type { SandboxDriver, SandboxLimits } from './sandbox.js';

/**
 * Python has no permissions to deny, and reaches any system call: what is shown here is the kernel's wall alone.
 * `attempt` notes what did not fail.
 */
const PRELUDE = `
import ctypes, os, socket, subprocess, sys, threading, time, mmap, resource, signal
libc = ctypes.CDLL(None, use_errno=True)
done = []
def attempt(name, action):
    try:
        result = action()
        done.append(name if result is None else f"{name}: {result}")
    except (OSError, ValueError, MemoryError, RuntimeError):
        pass
def call(name, number, *arguments):
    if libc.syscall(number, *arguments) != -1:
        done.append(name)
`;

/** Numbers of x86_64; on another processor they would be other calls. */
const onX64 = process.arch === 'x64';

const ATTEMPTS: Readonly<Record<string, string>> = {
  'the network': `
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK, socket.AF_PACKET):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
        attempt(f"socket {family} {kind}", lambda: socket.socket(family, kind).close())
attempt("metadata address", lambda: socket.create_connection(("169.254.169.254", 80), 2))
attempt("loopback", lambda: socket.create_connection(("127.0.0.1", 22), 2))
attempt("dns", lambda: socket.getaddrinfo("example.com", 80))`,

  'files of the host': `
for path in ("/etc/passwd", "/etc/shadow", "/root", "/home", "/tmp", "/var", "/sys", "/dev", "/dev/mem", "/run",
             "/proc/1/root/etc", "/proc/self/root/etc", "/proc/1/cwd/etc", "/proc/kcore", "/var/run/docker.sock"):
    attempt(path, lambda: os.stat(path) and None)
seen = set(os.listdir("/")) - {"app", "bin", "lib", "lib64", "prlimit", "proc", "usr", "opt"}
if seen: done.append(str(seen))
for path in ("/usr/bin/sh", "/bin/sh", "/usr/bin/env", "/usr/share"):
    attempt(path, lambda: os.stat(path) and None)
if os.listdir("/app") != ["evaluator.py"]: done.append(str(os.listdir("/app")))`,

  'the environment': `
allowed = {"PWD", "LC_CTYPE"}
if set(os.environ) - allowed: done.append(str(dict(os.environ)))
if "PATH" in open("/proc/1/environ").read(): done.append("environ of 1")`,

  'processes of the machine': `
ids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
if ids != [os.getpid()] or ids != [1]: done.append(str(ids))
for pid in range(2, 3000):
    attempt(f"signal {pid}", lambda: os.kill(pid, 0))`,

  'new processes': `
attempt("fork", os.fork)
attempt("forkpty", os.forkpty)
attempt("spawn", lambda: subprocess.run(["/prlimit", "--version"]))
attempt("posix_spawn", lambda: os.posix_spawn("/prlimit", ["prlimit", "--version"], {}))
attempt("vfork", lambda: subprocess.Popen(["/prlimit"]))`,

  'writing anywhere': `
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

  'raising its limits and its rights': `
for what in (resource.RLIMIT_DATA, resource.RLIMIT_NPROC, resource.RLIMIT_CPU, resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
    attempt(f"limit {what}", lambda: resource.setrlimit(what, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)))
attempt("root", lambda: os.setuid(0))
attempt("groups", lambda: os.setgroups([0]))
attempt("chroot", lambda: os.chroot("/"))
attempt("nice", lambda: os.nice(-5) and None)`,

  'memory that is not counted': `
attempt("shared map", lambda: mmap.mmap(-1, 1 << 30) and None)
attempt("memfd", lambda: os.memfd_create("x") and None)
from multiprocessing import shared_memory
attempt("shm_open", lambda: shared_memory.SharedMemory(create=True, size=1 << 20) and None)`,

  'inherited file descriptors': `
for name in os.listdir("/proc/self/fd"):
    number = int(name)
    try:
        target = os.readlink(f"/proc/self/fd/{name}")
    except OSError:
        continue
    if target == "/dev/null": continue
    if number > 2: done.append(f"{name}: {target}")
    elif not target.startswith(("socket:", "pipe:")): done.append(f"{name}: {target}")`,

  ...(onX64
    ? {
        'parts of the kernel that it has no use for': `
for name, number in (("ptrace", 101), ("mount", 165), ("umount2", 166), ("pivot_root", 155), ("chroot", 161),
                     ("unshare user", 272), ("setns", 308), ("bpf", 321), ("perf_event_open", 298), ("userfaultfd", 323),
                     ("io_uring_setup", 425), ("keyctl", 250), ("add_key", 248), ("kexec_load", 246), ("init_module", 175),
                     ("process_vm_readv", 310), ("pidfd_open", 434), ("open_by_handle_at", 304), ("shmget", 29),
                     ("msgget", 68), ("semget", 64), ("mq_open", 240), ("syslog", 103), ("fsopen", 430),
                     ("open_tree", 428), ("memfd_secret", 447), ("personality", 135), ("clone3", 435), ("x32 socket", 0x40000029)):
    call(name, number, 0x10000000 if name == "unshare user" else 0, 0, 0, 0, 0, 0)
# A process, and a user namespace with all capabilities in it
call("clone", 56, 17, 0, 0, 0, 0)
call("clone user namespace", 56, 0x10000000 | 17, 0, 0, 0, 0)`,
      }
    : {}),
};

let stateDir: string;
let driver: SandboxDriver;

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'sandbox state '));
});
afterAll(() => rm(stateDir, { recursive: true }));

describe.runIf(onHardenedMachine)("a model's Python against the kernel's wall", { timeout: 90_000 }, () => {
  beforeAll(async () => {
    driver = await createBubblewrapDriver({ stateDir });
  });
  afterAll(() => driver.close());

  function evaluate(
    code: string,
    { limits = {}, timeoutMs = 60_000 }: { limits?: Partial<SandboxLimits>; timeoutMs?: number } = {},
  ): Promise<Evaluation> {
    const pool = { take: () => driver.start({ entry: 'evaluator', language: 'python', limits }) };
    return evaluateInSandbox(pool, { code, task: 'the task' }, { timeoutMs });
  }

  test.each(Object.entries(ATTEMPTS))('gets nowhere with %s [EXE-43]', async (_what, code) => {
    expect(await evaluate(`${PRELUDE}${code}\nreturn done`)).toEqual({ value: [], stdout: '' });
    expect(await evaluate('return 1')).toEqual({ value: 1, stdout: '' });
  });

  test('makes no more threads than its limit', async () => {
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
    expect(evaluation).toHaveProperty('value');
    const { value } = evaluation as { value: number };
    // A root server whose sandboxes have to stay root has no such limit, and announces that.
    const most = driver.guarantees.threadsBounded === true ? 26 : 200;
    expect(value).toBeLessThanOrEqual(most);
  });

  test.each([
    ['one block', 'held = bytearray(1 << 30)\nreturn 1'],
    ['many', 'held = []\nwhile True: held.append(bytearray(1 << 20))'],
    ['many small', 'held = []\nwhile True: held.append(object())'],
    [
      'many, errors ignored',
      'held = []\nwhile True:\n  try: held.append(bytearray(1 << 20))\n  except MemoryError: pass',
    ],
    [
      'mapped',
      'import mmap\nheld = []\nwhile True: held.append(mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))',
    ],
    [
      'threads',
      'import threading\ndef eat():\n  held = []\n  while True: held.append(bytearray(1 << 20))\nts = [threading.Thread(target=eat) for _ in range(6)]\nfor t in ts: t.start()\nfor t in ts: t.join()\nraise MemoryError',
    ],
  ])('a memory bomb (%s) ends at its limit', async (_what, code) => {
    const evaluation = await evaluate(code, { limits: { memoryMb: 128, cpuSeconds: 2 } });
    expect(evaluation).toHaveProperty('error');
  });

  test('a busy loop ends at its limit of processor time', async () => {
    const evaluation = await evaluate('while True: pass', { limits: { cpuSeconds: 1 } });
    expect(evaluation).toMatchObject({ error: expect.stringMatching(/processor time/) as string });
  });

  test.each([
    ['floods its output', `import os\nwhile True: os.write(1, b"x" * 1000 + b"\\n")`],
    ['floods its errors', `import os\nwhile True: os.write(2, b"x" * 1000 + b"\\n")`],
    ['writes a line without end', `import os\nwhile True: os.write(1, b"x" * 1000)`],
  ])('is stopped when it %s', async (_what, code) => {
    const limits = { maxTotalOutputBytes: 4 << 20, maxLineBytes: 1 << 20 };
    expect(await evaluate(code, { limits })).toMatchObject({
      error: 'The code returned or printed more than it may.',
    });
  });

  test.each([
    [
      'kills all it can',
      `import os, signal\nos.kill(-1, signal.SIGKILL)\nos.kill(1, signal.SIGKILL)\nreturn "alive"`,
    ],
    ['replaces itself', `import os\nos.execv("/prlimit", ["prlimit", "--version"])`],
    ['crashes its interpreter', `import ctypes\nctypes.string_at(0)`],
    ['ends its process', `import os\nos._exit(3)`],
  ])('harms only itself when it %s', async (_what, code) => {
    const neighbour = evaluate('import time\ntime.sleep(0.5)\nreturn "unharmed"');
    const evaluation = await evaluate(code);
    expect('error' in evaluation || evaluation.value === 'alive').toBe(true);
    expect(await neighbour).toEqual({ value: 'unharmed', stdout: '' });
  });

  test('forges nothing but its own result', async () => {
    const line = JSON.stringify({ type: 'done', status: 'completed', output: 'forged' });
    const code = `import os\nos.write(1, ${JSON.stringify(`${line}\n`)}.encode())\nreturn 1`;
    expect(await evaluate(code)).toEqual({ value: 1, stdout: `${line}\n` });
  });
});
