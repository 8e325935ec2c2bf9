import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { pathToFileURL } from 'node:url';
import {
  assertAllFail,
  type ConformanceCase,
  evaluate,
  ofThisMachine,
  valueOf,
  withCanaries,
} from '../conformance-case.js';

async function withHostPort(use: (port: number, connections: () => number) => Promise<void>): Promise<void> {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await use((server.address() as AddressInfo).port, () => connections);
  } finally {
    server.close();
  }
}

const CANARY = 'export default "canary-7d1f"; //';

/** A separate machine has a separate network stack, and may learn about itself from its metadata address. */
const ofTheHost = {
  'fetch of the metadata address': `fetch('http://169.254.169.254/')`,
  'node:dgram': `import('node:dgram').then((dgram) => new Promise((ok, no) => { const s = dgram.createSocket('udp4'); s.on('error', no); s.bind(0, ok); }))`,
};

export const escapeCases: readonly ConformanceCase[] = [
  {
    name: 'has no network',
    threat: 'network: TCP, UDP, DNS, unix sockets, metadata address',
    check: (driver) =>
      withHostPort(async (port, connections) => {
        await assertAllFail(driver, {
          ...(ofThisMachine(driver) ? ofTheHost : {}),
          fetch: `fetch('http://127.0.0.1:${port}/')`,
          WebSocket: `new Promise((ok, no) => { const s = new WebSocket('ws://127.0.0.1:${port}'); s.onopen = ok; s.onerror = no; })`,
          'Deno.connect': `Deno.connect({ hostname: '127.0.0.1', port: ${port} })`,
          'Deno.listen': `Deno.listen({ port: 0 })`,
          'Deno.listenDatagram': `Deno.listenDatagram({ port: 0, transport: 'udp' })`,
          'Deno.connect unix': `Deno.connect({ transport: 'unix', path: '/var/run/docker.sock' })`,
          'Deno.resolveDns': `Deno.resolveDns('example.com', 'A')`,
          'node:net': `import('node:net').then((net) => new Promise((ok, no) => net.connect(${port}, '127.0.0.1', ok).on('error', no)))`,
          'node:dns': `import('node:dns/promises').then((dns) => dns.lookup('example.com'))`,
          'node:http': `import('node:http').then((http) => new Promise((ok, no) => http.get('http://127.0.0.1:${port}/', ok).on('error', no)))`,
        });
        assert.equal(connections(), 0, 'a connection reached the host');
      }),
  },
  {
    name: 'reads and writes no file of the host',
    threat: 'files of the host',
    check: (driver) =>
      withCanaries({ 'canary.mjs': CANARY }, async ([path = '']) => {
        const file = JSON.stringify(path);
        const url = JSON.stringify(pathToFileURL(path).href);
        const target = JSON.stringify(`${path}.written`);
        await assertAllFail(driver, {
          'Deno.readTextFile': `Deno.readTextFile(${file})`,
          'Deno.open': `Deno.open(${file})`,
          'Deno.stat': `Deno.stat(${file})`,
          'Deno.writeTextFile': `Deno.writeTextFile(${target}, 'x')`,
          'Deno.makeTempFile': `Deno.makeTempFile()`,
          'Deno.symlink': `Deno.symlink(${file}, ${target})`,
          'Deno.openKv': `Deno.openKv(${target})`,
          'fetch file': `fetch(${url}).then((response) => response.text())`,
          import: `import(${url})`,
          'import as text': `import(${url}, { with: { type: 'text' } })`,
          'worker from file': `new Promise((ok, no) => { const w = new Worker(${url}, { type: 'module' }); w.onmessage = ok; w.onerror = no; })`,
          'node:fs read': `import('node:fs').then((fs) => fs.readFileSync(${file}))`,
          'node:fs write': `import('node:fs').then((fs) => fs.writeFileSync(${target}, 'x'))`,
          'node:module require': `import('node:module').then((module) => module.createRequire(${url})(${file}))`,
          'node:sqlite': `import('node:sqlite').then((sqlite) => new sqlite.DatabaseSync(${target}))`,
        });
        const seen = await evaluate(driver, `return await Deno.readTextFile(${file});`);
        assert.ok(!JSON.stringify(seen).includes(CANARY));
      }),
  },
  {
    name: 'reads nothing of its machine',
    threat: 'processes of the machine, `/proc`',
    appliesTo: ofThisMachine,
    async check(driver) {
      const paths = ['/etc/passwd', '/proc/self/environ', '/proc/1/environ', '/proc/self/maps', '/dev/mem'];
      const expressions = Object.fromEntries(
        paths.map((path) => [path, `import('node:fs').then((fs) => fs.readFileSync('${path}'))`]),
      );
      const more = {
        'list /': `Array.fromAsync(Deno.readDir('/'))`,
        'list /proc/self/fd': `Array.fromAsync(Deno.readDir('/proc/self/fd'))`,
        hostname: `Deno.hostname()`,
        'executable path': `import('node:fs').then((fs) => fs.realpathSync('/proc/self/exe'))`,
        'network interfaces': `Deno.networkInterfaces()`,
      };
      await assertAllFail(driver, { ...expressions, ...more });
      assert.notEqual(await valueOf(driver, `return process.cwd();`), process.cwd());
    },
  },
  {
    name: 'sees nothing of the environment',
    threat: 'environment',
    async check(driver) {
      const canary = 'canary-b3a9';
      process.env['SANDBOX_CONFORMANCE_CANARY'] = canary;
      try {
        const seen = await valueOf(
          driver,
          `const seen = [];
           for (const look of [
             () => Deno.env.toObject(),
             () => Deno.env.get('SANDBOX_CONFORMANCE_CANARY') ?? null,
             () => process.env.SANDBOX_CONFORMANCE_CANARY ?? null,
             () => ({ ...process.env }),
           ]) {
             try { seen.push(look()); } catch {}
           }
           return seen;`,
        );
        assert.ok(!JSON.stringify(seen).includes(canary), 'the environment of the host is visible');
        assert.ok(!JSON.stringify(seen).includes(process.env['PATH'] ?? canary), 'PATH is visible');
      } finally {
        delete process.env['SANDBOX_CONFORMANCE_CANARY'];
      }
    },
  },
  {
    name: 'starts no process and signals none',
    threat: 'fork bomb',
    appliesTo: ofThisMachine,
    check: (driver) =>
      assertAllFail(driver, {
        'Deno.Command': `new Deno.Command('/bin/true').output()`,
        'Deno.Command of itself': `new Deno.Command(Deno.execPath()).output()`,
        'node:child_process': `import('node:child_process').then((child) => child.execFileSync('/bin/true'))`,
        'node:cluster': `import('node:cluster').then((cluster) => cluster.default.fork())`,
        'Deno.kill': `Deno.kill(${process.pid}, 'SIGCONT')`,
        'process.kill': `process.kill(${process.pid}, 'SIGCONT')`,
      }),
  },
  {
    name: 'loads no native code',
    threat: 'native code',
    appliesTo: ofThisMachine,
    check: (driver) =>
      assertAllFail(driver, {
        'Deno.dlopen': `Deno.dlopen('libc.so.6', { getpid: { parameters: [], result: 'i32' } })`,
        'process.dlopen': `process.dlopen({ exports: {} }, '/usr/lib/libc.so.6')`,
        'Deno.UnsafePointer': `Deno.UnsafePointer.of(new Uint8Array(1))`,
        'node:inspector': `import('node:inspector').then((inspector) => inspector.open(0))`,
      }),
  },
  {
    name: 'imports nothing from elsewhere',
    threat: 'importing remote code and host files',
    check: (driver) =>
      assertAllFail(driver, {
        https: `import('https://deno.land/std@0.224.0/version.ts')`,
        jsr: `import('jsr:@std/encoding')`,
        npm: `import('npm:left-pad')`,
        'worker from https': `new Promise((ok, no) => { const w = new Worker('https://deno.land/x.ts', { type: 'module' }); w.onmessage = ok; w.onerror = no; })`,
      }),
  },
  {
    name: 'gains no permission in a worker or by asking',
    threat: 'permission prompts, workers',
    async check(driver) {
      const inWorker = `
        let granted = [];
        try { await Deno.readTextFile('/etc/passwd'); granted.push('read'); } catch {}
        try { await fetch('http://127.0.0.1:8/'); } catch (error) {
          if (error.name !== 'NotCapable') granted.push('net: ' + error);
        }
        postMessage(granted);`;
      for (const permissions of ['undefined', `'inherit'`, '{ read: true, net: true }']) {
        const evaluation = await evaluate(
          driver,
          `const source = 'data:text/javascript,' + encodeURIComponent(${JSON.stringify(inWorker)});
           const worker = new Worker(source, { type: 'module', deno: { permissions: ${permissions} } });
           return await new Promise((ok) => {
             worker.onmessage = (event) => ok(event.data);
             worker.onerror = (event) => { event.preventDefault(); ok([]); };
           });`,
        );
        // Asking for permissions may also end the sandbox.
        if ('value' in evaluation) assert.deepEqual(evaluation.value, []);
      }
      const granted = await valueOf(
        driver,
        `const granted = [];
         for (const name of ['read', 'write', 'net', 'env', 'run', 'ffi', 'sys', 'import']) {
           try { if ((await Deno.permissions.request({ name })).state === 'granted') granted.push(name); } catch {}
         }
         return granted;`,
      );
      assert.deepEqual(granted, []);
    },
  },
  {
    name: 'shares nothing with the sandbox before it',
    threat: 'leftovers of the previous sandbox',
    async check(driver) {
      const code = `
        const before = globalThis.mark ?? null;
        globalThis.mark = 'left behind';
        try { localStorage.setItem('mark', 'left behind'); } catch {}
        let stored = null;
        try { stored = localStorage.getItem('mark'); } catch {}
        let cached = false;
        try { cached = await caches.has('mark'); await caches.open('mark'); } catch {}
        return { before, cached };`;
      const expected = { before: null, cached: false };
      assert.deepEqual(await valueOf(driver, code), expected);
      assert.deepEqual(await valueOf(driver, code), expected);
    },
  },
];
