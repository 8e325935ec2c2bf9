import type { Reach } from './traced-calls.js';

/** A system call that Deno makes before, or without, a check of permissions, and that docs/isolation.md names. */
export interface KnownReach {
  /** The interfaces, as the sweep reports them. Absent: all interfaces, and Deno's start. */
  api?: RegExp;
  call: RegExp;
  /** The name in docs/isolation.md. */
  what: string;
}

/** Deno's own housekeeping: it takes no argument from the code, and returns nothing to the code. */
const HOUSEKEEPING: readonly KnownReach[] = [
  {
    call: /^(openat|statx|newfstatat|readlink)\("?<?\/proc\/self\/(exe|statm|maps|cgroup|mountinfo|task\/N\/stat)\b/,
    what: 'its own process',
  },
  { call: /^\w+\((<\/proc\/self\/|"\/proc\/sys\/vm\/overcommit_memory")/, what: 'its own process' },
  {
    call: /^\w+\("?<?\/sys\/(fs\/cgroup|devices\/system\/cpu)\b/,
    what: 'the number of processors',
  },
  { call: /^\w+\([^,]*\/(no-cache\/deno|none)\b/, what: 'its cache folder' },
  { call: /^\w+\("?<?\/usr\/share\/zoneinfo\//, what: 'the time zone UTC' },
  { call: /^ioctl\b/, what: 'its own streams' },
];

/** Known calls of code without any interface. */
export const knownOfTheLanguage: readonly KnownReach[] = [
  ...HOUSEKEEPING,
  {
    api: /language\.(a source map|waiting|evaluated|WebAssembly)/,
    call: /^(statx|openat)\("\S*\/canary"?/,
    what: 'source maps',
  },
];

/** Known calls of code with all of Deno's and Node's interfaces and no permission. The evaluator's code has no interfaces. */
export const knownOfTheInterfaces: readonly KnownReach[] = [
  ...HOUSEKEEPING,
  { api: /^language\./, call: /^statx\("/, what: 'whether the file of an import is there' },
  {
    call: /^\w+\([^,]*\/etc\/(resolv\.conf|hosts|host\.conf|nsswitch\.conf)\b/,
    what: 'the configuration of DNS',
  },
  {
    api: /node:inspector/,
    call: /^(socket|connect)\b.*(AF_UNIX|nscd)/,
    what: 'the name service on this machine',
  },
  {
    api: /node:module|node:test/,
    call: /^(statx|openat|newfstatat|readlink)\b/,
    what: 'the loaders of node:module and node:test',
  },
];

/** Known calls that succeed at level kernel: the sandbox has its own link in place of /proc. */
export const knownBehindTheKernel: readonly KnownReach[] = [
  { call: /^readlink\("\/proc\/self\/exe", "\/deno"/, what: 'its own process' },
];

/** Sorts a sweep's calls into known ones, by name, and unknown ones, by call. Each has the set of its interfaces. */
export function judge(reaches: readonly Reach[], known: readonly KnownReach[]) {
  const [named, unknown] = [new Map<string, Set<string>>(), new Map<string, Set<string>>()];
  const add = (map: Map<string, Set<string>>, key: string, api: string): void => {
    map.set(key, (map.get(key) ?? new Set()).add(api));
  };
  for (const { api, call } of reaches) {
    const match = known.find((each) => (each.api?.test(api) ?? true) && each.call.test(call));
    if (match === undefined) add(unknown, call, api);
    else add(named, match.what, api);
  }
  return { named, unknown };
}
