/** A system call on a part of the machine, during the call of an interface. */
export interface Reach {
  /** The interface, for instance `node:fs.readFile`. Its delayed calls may show under a later interface. */
  api: string;
  /** The system call, without process id, descriptors and numbers, so that equal calls compare equal. */
  call: string;
  succeeded: boolean;
}

const SAID = /^\d+ +write\(1(?:<[^>]*>\S*)?, "(?:.*\\n)?(CALL \d+ (?<api>[^"\\]*)|TOTAL \d+|END)\\n"/;
/** Calls on the process's own threads, child processes and open descriptors. */
const HARMLESS =
  /^(write|clone|clone3|vfork|wait4|exit|exit_group|tgkill|getcwd|socketpair|shutdown|recvfrom\(\d+<[^>]*>, ""|recvfrom|getsockname|getsockopt)\b/;

/** Reads strace's output (`-f -y`), from the sweep's first announcement. */
export function reachesOf(trace: string, namespace: string): Reach[] {
  const reaches: Reach[] = [];
  /** Unfinished calls, by process. Their results come later in the trace. */
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
    if (api === undefined || !/^\w+\(/.test(text) || HARMLESS.test(text)) continue;
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
