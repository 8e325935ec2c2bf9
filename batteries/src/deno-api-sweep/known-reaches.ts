import type { Reach } from './traced-calls.js';

/** Calls of the kernel that Deno makes before, or without, a check of permissions, and what is done about them. */
export interface KnownReach {
  /** The interfaces, as the sweep reports them. Absent: all, and what Deno does before the first call. */
  api?: RegExp;
  call: RegExp;
  /** As docs/isolation.md names it. */
  what: string;
}

/** Deno's own housekeeping: no argument of code is in it, and nothing of it comes back to code. */
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

/** What code without any interface reaches. */
export const knownOfTheLanguage: readonly KnownReach[] = [
  ...HOUSEKEEPING,
  {
    api: /language\.(a source map|waiting|evaluated|WebAssembly)/,
    call: /^(statx|openat)\("\S*\/canary"?/,
    what: 'source maps',
  },
];

/** What code reaches that finds all of Deno's and Node's interfaces, without a permission. The evaluator's code finds none. */
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

/** What the kernel's wall leaves to be found: a link of our own in the place of /proc. */
export const knownBehindTheKernel: readonly KnownReach[] = [
  { call: /^readlink\("\/proc\/self\/exe", "\/deno"/, what: 'its own process' },
];

/** Sorts what a sweep saw: what is known, by what it is, and what is not, by the call; each with the interfaces it came from. */
export function judge(
  reaches: readonly Reach[],
  known: readonly KnownReach[],
): { named: Map<string, Set<string>>; unknown: Map<string, Set<string>> } {
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
