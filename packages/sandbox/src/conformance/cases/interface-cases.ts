import assert from 'node:assert/strict';
import { homedir, tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { evaluatorPath } from '@agent-rental/agent-runner';
import { locateDenoBinary } from '../../drivers/deno/deno-binary.js';
import {
  assertAllFail,
  type ConformanceCase,
  evaluate,
  ofThisMachine,
  valueOf,
  withCanaries,
} from '../conformance-case.js';
import { evaluateIn, nativeLanguages } from '../native-code.js';

const CANARY = 'canary-91c7';

/** Files that a module loader reads before it checks permissions: as a module, as text, as a part of an error. */
const CANARIES = { 'module.mjs': `export default '${CANARY}';`, 'secret.txt': `${CANARY}: of the host` };

const TELL_THE_INSTALLATION = `
  const told = [];
  const tell = async (look) => { try { told.push(String(await look())); } catch (error) { told.push(String(error?.stack ?? error)); } };
  await tell(() => new Error('x').stack);
  await tell(() => new Promise((ok) => setTimeout(() => ok(new Error('x').stack))));
  await tell(() => { null.x; });
  await tell(() => new Function('return new Error().stack')());
  await tell(() => {
    const before = Error.prepareStackTrace;
    Error.prepareStackTrace = (_, sites) => JSON.stringify(sites.map((site) =>
      [site.getFileName(), site.getEvalOrigin(), site.getScriptNameOrSourceURL(), String(site.getThis())]));
    const { stack } = new Error('x');
    Error.prepareStackTrace = before;
    return stack;
  });
  for (const name of ['./beside.mjs', 'bare', '/absolute.mjs', '../up.mjs']) await tell(() => import(name));
  await tell(() => import('data:text/javascript,export default import.meta.url').then((module) => module.default));
  await tell(() => new Promise((ok, no) => { new Worker('./beside.mjs', { type: 'module' }).onerror = (event) => no(event.message); }));
  await tell(() => Deno.mainModule);
  await tell(() => Deno.execPath());
  await tell(() => Deno.cwd());
  await tell(() => JSON.stringify(Deno[Deno.internal].__nodeBootstrapArgs));
  await tell(() => JSON.stringify([process.argv, process.argv0, process.execPath, process.execArgv, process.title]));
  await tell(() => JSON.stringify(process.report?.getReport?.()));
  await tell(() => location.href);
  await tell(() => import('node:module').then((module) => module.createRequire('file:///x').resolve('./y')));
  return told;`;

/** Interfaces of Deno that reach the machine before, or without, a check of permissions. These attempts must fail. */
const WITHOUT_A_CHECK = {
  'a graphics adapter': `navigator.gpu.requestAdapter()`,
  'a canvas': `new OffscreenCanvas(1, 1).getContext('2d')`,
  'a canvas with graphics': `new OffscreenCanvas(1, 1).getContext('webgpu')`,
  'the desktop': `Deno[Deno.internal].core.ops.op_desktop_init()`,
  'the clipboard': `Deno[Deno.internal].core.ops.op_desktop_read_clipboard_text()`,
  'a native module': `Deno[Deno.internal].core.ops.op_napi_open('/lib/x86_64-linux-gnu/libm.so.6')`,
  'a worker, which would have it all': `new Worker('data:text/javascript,', { type: 'module' })`,
  'a worker of Node': `import('node:worker_threads').then(({ Worker }) => new Worker('', { eval: true }))`,
  'a module of Node': `import('node:module')`,
  'a module of Node, from a module': `import('data:text/javascript,import "node:module"')`,
  'a module of Node, by another spelling': `import('NODE:module')`,
  'a built-in module': `process.getBuiltinModule('node:module').Module`,
  'an address of a module': `URL.createObjectURL(new Blob(['export default 1']))`,
  'a new context': `import('node:vm').then((vm) => vm.runInNewContext('1'))`,
};

/**
 * Attempts that fail because code finds no interface for them. Deno's permissions alone do not stop them: some interfaces
 * reach the machine before, or without, a check of permissions.
 */
export const interfaceCases: readonly ConformanceCase[] = [
  {
    name: 'reads no file of the host through a loader of modules',
    threat: 'files of the host',
    appliesTo: ofThisMachine,
    needsBareRealm: true,
    check: (driver) =>
      withCanaries(CANARIES, async (paths) => {
        for (const path of paths) {
          for (const load of [
            `import('node:module').then(({ Module }) => { const module = {}; Module._extensions['.mjs'](module, ${JSON.stringify(path)}); return module.exports; })`,
            `import('node:module').then(({ createRequire }) => createRequire('file:///')(${JSON.stringify(path)}))`,
            `import('node:test').then(({ mock }) => mock.module(${JSON.stringify(path)}))`,
            `import(${JSON.stringify(path)})`,
          ]) {
            const code = `try { return JSON.stringify(await ${load}); } catch (error) { return String(error?.stack); }`;
            const seen = JSON.stringify(await evaluate(driver, code));
            assert.ok(!seen.includes(CANARY), `a file of the host was read: ${seen}`);
          }
        }
      }),
  },
  {
    name: 'finds no interface that reaches the machine without a check',
    threat: 'interfaces that reach the machine before they ask',
    appliesTo: ofThisMachine,
    needsBareRealm: true,
    check: (driver) => assertAllFail(driver, WITHOUT_A_CHECK),
  },
  {
    name: 'loads no graphics of the host, in no thread',
    threat: 'interfaces that reach the machine before they ask',
    appliesTo: ofThisMachine,
    async check(driver) {
      const adapter = `(async () => (await navigator.gpu?.requestAdapter()) ?? null)()`;
      const inWorker = `(async () => postMessage(((await navigator.gpu?.requestAdapter()) ?? null) === null))()`;
      const code = `
        const none = (await ${adapter}.catch(() => null)) === null;
        if (typeof Worker === 'undefined') return [none];
        const worker = new Worker('data:text/javascript,' + encodeURIComponent(${JSON.stringify(inWorker)}), { type: 'module' });
        return [none, await new Promise((ok) => { worker.onmessage = ({ data }) => ok(data); worker.onerror = () => ok(true); })];`;
      const withoutAdapter = await valueOf(driver, code);
      assert.ok(Array.isArray(withoutAdapter) && withoutAdapter.every((none) => none === true));
    },
  },
  {
    name: 'resolves no name of a host',
    threat: 'network: TCP, UDP, DNS, unix sockets, metadata address',
    appliesTo: ofThisMachine,
    needsBareRealm: true,
    async check(driver) {
      const code = `
        const said = [];
        for (const open of [
          () => import('node:inspector').then((inspector) => inspector.open(0, '${CANARY}.invalid')),
          () => import('node:inspector').then((inspector) => inspector.default.open(0, '${CANARY}.invalid')),
          () => process.getBuiltinModule('node:inspector').open(0, '${CANARY}.invalid'),
        ]) {
          try { said.push(String(await open())); } catch (error) { said.push(String(error)); }
        }
        return said.join();`;
      assert.doesNotMatch(
        JSON.stringify(await valueOf(driver, code)),
        /lookup|resol|Name or service|undefined/i,
      );
    },
  },
  {
    name: 'uses only the descriptors of its standard streams',
    threat: 'inherited file descriptors',
    needsBareRealm: true,
    appliesTo: ofThisMachine,
    async check(driver) {
      const uses = Array.from({ length: 13 }, (_, at) => at + 3).map((descriptor) => ({
        [`read ${descriptor}`]: `import('node:fs').then((fs) => fs.readSync(${descriptor}, new Uint8Array(1)))`,
        [`look at ${descriptor}`]: `import('node:fs').then((fs) => fs.fstatSync(${descriptor}))`,
        [`stream ${descriptor}`]: `import('node:net').then((net) => new net.Socket({ fd: ${descriptor} }))`,
        [`file of ${descriptor}`]: `new Deno.FsFile(${descriptor}).statSync()`,
      }));
      await assertAllFail(driver, Object.assign({}, ...uses) as Record<string, string>);
    },
  },
  {
    name: 'learns no path of the host',
    threat: 'the path of the installation',
    appliesTo: ofThisMachine,
    needsBareRealm: true,
    async check(driver) {
      const told = [JSON.stringify(await valueOf(driver, TELL_THE_INSTALLATION))];
      if (nativeLanguages(driver).includes('python')) {
        const code = `
import sys, traceback
told = [str(sys.argv), str(sys.path), str(sys.orig_argv)]
try:
    raise ValueError
except ValueError:
    told.append("".join(traceback.format_stack()) + traceback.format_exc())
return told`;
        told.push(JSON.stringify(await evaluateIn(driver, 'python', code)));
      }
      const installed = [evaluatorPath(), locateDenoBinary()].map((path) => dirname(path));
      const names = [...installed, process.cwd(), homedir(), tmpdir()];
      for (const name of names.filter((each) => each.length > 1)) {
        for (const text of told) assert.ok(!text.includes(name), `${name} is in ${text}`);
      }
    },
  },
];
