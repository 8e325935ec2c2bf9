import { environment } from '@agent-rental/server/config';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { namesIn, pathExists, readText } from './repository.js';

const DOCKERFILE = readText('Dockerfile');
const COMPOSE = 'deploy/compose';
const FILES = ['compose.yaml', 'compose.bubblewrap.yaml', 'compose.localnet.yaml'] as const;
const OWN_IMAGE = '${IMAGE:-agent-rental:0.1.0}';
/** The variables that `agent-rental` reads. */
const OF_COMMAND_LINE = ['AGENT_RENTAL_URL', 'AGENT_RENTAL_RPC_URL'];

interface Part {
  image: string;
  environment?: Record<string, string>;
  read_only?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  mem_limit?: string;
  pids_limit?: number;
  stop_grace_period?: string;
  networks?: { default: { ipv4_address: string } };
  healthcheck?: { test?: string[]; disable?: boolean };
  privileged?: boolean;
}

const partsOf = (file: string): Record<string, Part> =>
  (parse(readText(`${COMPOSE}/${file}`), { merge: true }) as { services: Record<string, Part> }).services;
/** Every part, in the file that defines it. */
const defined = FILES.flatMap((file) =>
  Object.entries(partsOf(file)).flatMap(([name, part]) => ('image' in part ? [{ file, name, part }] : [])),
);
const base = partsOf('compose.yaml');
const servers = Object.keys(base).filter((name) => name.startsWith('server-'));
const lineOf = (text: string, pattern: RegExp): string => pattern.exec(text)?.[1] ?? '';

describe('the Dockerfile', () => {
  test('begins with a pinned Node that fits the engines [OPS-82]', () => {
    const version = lineOf(DOCKERFILE, /^ARG NODE_IMAGE=docker\.io\/library\/node:([\d.]+)-bookworm-slim$/m);
    expect(version).toBe(readText('.nvmrc').trim());
    const { engines } = JSON.parse(readText('server/package.json')) as { engines: { node: string } };
    const [major = 0, minor = 0] = version.split('.').map(Number);
    const [, leastMajor = '', leastMinor = ''] = /^>=(\d+)\.(\d+)$/.exec(engines.node) ?? [];
    expect(major * 1000 + minor).toBeGreaterThanOrEqual(Number(leastMajor) * 1000 + Number(leastMinor));
    expect([...DOCKERFILE.matchAll(/^FROM (\S+)/gm)].map(([, from]) => from)).toEqual([
      '${NODE_IMAGE}',
      '${NODE_IMAGE}',
    ]);
  });

  test('ends as a user that is no root, with node as the program that gets signals [OPS-82]', () => {
    expect([...DOCKERFILE.matchAll(/^USER (.*)$/gm)].map(([, user]) => user)).toEqual(['1000:1000']);
    expect(lineOf(DOCKERFILE, /^ENTRYPOINT (.*)$/m)).toBe('["/usr/bin/tini", "--"]');
    expect(lineOf(DOCKERFILE, /^CMD (.*)$/m)).toBe('["node", "server/dist/main.js"]');
  });

  test('sets variables that the server reads, and the port that it exposes [OPS-82]', () => {
    const set = Object.fromEntries(
      lineOf(DOCKERFILE, /^ENV (.*)$/m)
        .split(' ')
        .map((pair) => pair.split('=') as [string, string]),
    );
    // The C library reads this one.
    const read = { ...environment.shape, MALLOC_ARENA_MAX: true };
    expect(Object.keys(set).filter((name) => !(name in read))).toEqual([]);
    expect(environment.pick({ PORT: true }).parse({}).PORT).toBe(Number(set['PORT']));
    expect(lineOf(DOCKERFILE, /^EXPOSE (.*)$/m)).toBe(set['PORT']);
    expect(lineOf(DOCKERFILE, /^VOLUME (.*)$/m)).toBe(set['STATE_DIR']);
  });

  test('is built from a list of allowed files [OPS-82]', () => {
    const lines = readText('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(lines[0]).toBe('*');
    const letIn = lines
      .filter((line) => line.startsWith('!') && !line.includes('*'))
      .map((line) => line.slice(1));
    expect(letIn.filter((path) => !pathExists(path))).toEqual([]);
  });

  test.each(namesIn('deploy/container/bin', 'file').filter((name) => name !== 'healthcheck'))(
    'brings the command %s, whose program has a source',
    (name) => {
      const program = lineOf(readText(`deploy/container/bin/${name}`), /^exec node \/app\/(\S+)/m);
      expect(pathExists(program.replace('/dist/', '/src/').replace(/\.js$/, '.ts'))).toBe(true);
    },
  );
});

describe('the Compose files', () => {
  test.each(defined)('pin, close off and limit $name of $file [OPS-82]', ({ name, part }) => {
    expect(
      part.image === OWN_IMAGE || /^docker\.io\/library\/\w+:\d+\.\d+(?:\.\d+)?(?:-\w+)?$/.test(part.image),
    ).toBe(true);
    expect(part).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    expect(part.cap_add ?? []).toEqual(name === 'proxy' ? ['NET_BIND_SERVICE'] : []);
    expect(part.security_opt).toEqual(['no-new-privileges:true']);
    expect(part.privileged).toBeUndefined();
    expect(part.mem_limit).toMatch(/^\d+[mg]$/);
    expect(part.pids_limit).toBeGreaterThan(0);
  });

  test('have the flags for sandboxes in the file for them alone [OPS-82]', () => {
    const flagged = Object.entries(partsOf('compose.bubblewrap.yaml'));
    expect(flagged.map(([name]) => name)).toEqual([...servers, 'tools']);
    for (const [, part] of flagged) {
      expect(part).toEqual({
        environment: { SANDBOX_DRIVER: 'bubblewrap' },
        security_opt: ['seccomp=unconfined', 'apparmor=unconfined', 'systempaths=unconfined'],
      });
    }
  });

  test('set variables that the server or the command line reads [OPS-82]', () => {
    const parts = FILES.flatMap((file) =>
      Object.entries(partsOf(file)).filter(([name, part]) => part.image === OWN_IMAGE || name in base),
    ).filter(([name]) => !['database', 'redis', 'proxy'].includes(name));
    const names = new Set(parts.flatMap(([, part]) => Object.keys(part.environment ?? {})));
    expect(names.size).toBeGreaterThan(15);
    expect(
      [...names].filter((name) => !(name in environment.shape) && !OF_COMMAND_LINE.includes(name)),
    ).toEqual([]);
  });

  test('take from .env exactly the variables of its example, or a default [OPS-82]', () => {
    const text = readText(`${COMPOSE}/compose.yaml`);
    const needed = [...text.matchAll(/\$\{(\w+)(?::\?|\})/g)].map(([, name = '']) => name);
    const example = [...readText(`${COMPOSE}/.env.example`).matchAll(/^(\w+)=/gm)].map(
      ([, name = '']) => name,
    );
    expect(needed).not.toEqual([]);
    expect(needed.filter((name) => !example.includes(name))).toEqual([]);
    expect(example.filter((name) => !text.includes(`\${${name}`))).toEqual([]);
  });

  test('count the servers, name each to the proxy, and trust the proxy alone [OPS-82]', () => {
    expect(servers.length).toBeGreaterThan(1);
    const addresses = servers.map((name) => `${name}:${environment.pick({ PORT: true }).parse({}).PORT}`);
    expect(lineOf(readText(`${COMPOSE}/Caddyfile`), /reverse_proxy (.*) \{/)).toBe(addresses.join(' '));
    for (const name of servers) {
      const server = base[name];
      expect(server?.environment).toMatchObject({
        REPLICAS: String(servers.length),
        TRUSTED_PROXIES: base['proxy']?.networks?.default.ipv4_address,
      });
      const drain = Number(server?.environment?.['DRAIN_TIMEOUT_SECONDS']);
      expect(Number.parseInt(server?.stop_grace_period ?? '', 10)).toBeGreaterThanOrEqual(drain + 10);
      expect(server?.healthcheck?.test).toEqual(['CMD', 'healthcheck', '/ready']);
    }
  });

  test('share the limits of E2B out to the servers [OPS-82]', () => {
    const shareOf = (name: string) =>
      Number(lineOf(base['server-1']?.environment?.[name] ?? '', /:-([\d.]+)\}$/)) * servers.length;
    const whole = environment.pick({ E2B_MAX_SANDBOXES: true, E2B_CREATES_PER_SECOND: true }).parse({});
    expect(shareOf('E2B_MAX_SANDBOXES')).toBeLessThanOrEqual(whole.E2B_MAX_SANDBOXES);
    expect(shareOf('E2B_CREATES_PER_SECOND')).toBeLessThanOrEqual(whole.E2B_CREATES_PER_SECOND);
  });
});
