/** A call of the kernel that names something of the machine, while an interface was being called. */
export interface Reach {
  /** The interface, as the sweep names it: `node:fs.readFile`. What it leaves to do later may show under a later one. */
  api: string;
  /** The system call, without process id, descriptors and numbers: equal ones are one. */
  call: string;
  /** Whether the kernel did it. */
  succeeded: boolean;
}

const SAID = /^\d+ +write\(1(?:<[^>]*>\S*)?, "(?:.*\\n)?(CALL \d+ (?<api>[^"\\]*)|TOTAL \d+|END)\\n"/;
/** Of threads and processes of its own, and of what is there already. Streams are asked whether they are terminals. */
const OF_ITS_OWN =
  /^(write|clone|clone3|vfork|wait4|exit|exit_group|tgkill|getcwd|socketpair|shutdown|recvfrom\(\d+<[^>]*>, ""|recvfrom|getsockname|getsockopt)\b/;

/** Reads what strace wrote (`-f -y`), from when the sweep began to call. */
export function reachesOf(trace: string, namespace: string): Reach[] {
  const reaches: Reach[] = [];
  /** By process: a call that was interrupted by another one in the trace. */
  const unfinished = new Map<string, Reach>();
  let api: string | undefined;
  for (const line of trace.split('\n')) {
    const said = SAID.exec(line);
    if (said !== null) {
      api = said.groups?.['api'] === undefined ? (api ?? '') : `${namespace}.${said.groups['api']}`;
      continue;
    }
    const [, pid = '', text = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const failed = /= -1 E\w+|= \?/.test(text);
    const interrupted = unfinished.get(pid);
    if (interrupted !== undefined && text.startsWith('<... ')) {
      interrupted.succeeded = !failed;
      unfinished.delete(pid);
      continue;
    }
    if (api === undefined || !/^\w+\(/.test(text) || OF_ITS_OWN.test(text)) continue;
    const isWhole = !text.endsWith('<unfinished ...>');
    const reach = { api, call: plain(text), succeeded: isWhole && !failed };
    reaches.push(reach);
    if (!isWhole) unfinished.set(pid, reach);
  }
  return reaches;
}

function plain(text: string): string {
  return text
    .replace(/ = .*$/, '')
    .replace(/ <unfinished \.\.\.>$/, '')
    .replace(/^(\w+\()AT_FDCWD<[^>]*>, /, '$1')
    .replace(/(^\w+\()\d+(<[^>]*>)/, '$1$2')
    .replaceAll(/canary-\d+/g, 'canary')
    .replaceAll(/\/proc\/\d+/g, '/proc/self')
    .replaceAll(/\/task\/\d+/g, '/task/N')
    .replaceAll(/0x[0-9a-f]+/g, 'ADDRESS')
    .replaceAll(/[0-9a-f]{32,}/g, 'HASH')
    .replaceAll(/\.[0-9a-f]{8}\.tmp/g, '.tmp')
    .replace(/(, (AT_STATX|\{st|ADDRESS|O_)).*$/, '')
    .replace(/\)$/, '');
}
