/**
 * Runs in a sandbox's evaluator. It calls each function of a namespace with arguments of many kinds, then the methods of the
 * returned objects. Before each call it prints a line on stdout (`CALL 12 readFile`).
 *
 * - `input` has the namespace, the number of the first function, and a folder.
 * - Every path in an argument is in that folder. Every path and name has a canary.
 * - It skips functions that end or stop the process, or close its streams.
 */
export const sweepCode = String.raw`
const { namespace, from, folder } = input;
const encoder = new TextEncoder();
const writeSync = Deno.stdout.writeSync.bind(Deno.stdout);
const later = globalThis.setTimeout;
const say = (text) => { let rest = encoder.encode(text + '\n'); while (rest.length > 0) rest = rest.subarray(writeSync(rest)); };
const settled = (promise, ms) => Promise.race([Promise.resolve(promise).then(() => {}, () => {}), new Promise((done) => later(done, ms))]);
for (const type of ['error', 'unhandledrejection']) {
  globalThis.addEventListener(type, (event) => { event.preventDefault(); event.stopImmediatePropagation(); }, true);
}
const ENDS = /(^|\.)(exit|abort|reallyExit|_exit|execve|kill|_kill|_debugEnd|debugger|prompt|alert|confirm|waitForDebugger|wait|close|closeSync|readSync|readvSync|throw|runMain|abortIfBroken|stdin|_rawDebug|reportError|loop|spinUntil)$/;
const LANGUAGE = new Set('Object Function Array Number Boolean String Symbol Date Promise RegExp Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError SuppressedError JSON Math Intl ArrayBuffer SharedArrayBuffer Atomics DataView Map Set WeakMap WeakSet WeakRef BigInt Iterator Proxy Reflect FinalizationRegistry Temporal DisposableStack AsyncDisposableStack globalThis self global window Deno'.split(' '));
const own = (value) => { try { return Object.getOwnPropertyNames(value); } catch { return []; } };
const parent = (value) => { try { return Object.getPrototypeOf(value); } catch { return null; } };
const get = (holder, name) => { try { return holder[name]; } catch { return undefined; } };

let root;
if (namespace === 'globalThis') root = globalThis;
else if (namespace === 'Deno') root = Deno;
else root = await import(namespace);
const names = own(root).filter((name) => namespace !== 'globalThis' || !(LANGUAGE.has(name) || name.endsWith('Array')));

const targets = [];
const known = new Set();
function collect(path, holder, name, depth) {
  const value = get(holder, name);
  if (value === null || (typeof value !== 'object' && typeof value !== 'function') || known.has(value)) return;
  known.add(value);
  if (typeof value === 'function') targets.push({ path, holder, value });
  if (depth === 0) return;
  for (let part = value; part !== null && part !== Object.prototype && part !== Function.prototype; part = parent(part)) {
    for (const key of own(part)) {
      if (!['prototype', 'constructor', 'caller', 'arguments', 'callee'].includes(key)) collect(path + '.' + key, value, key, depth - 1);
    }
    if (typeof value === 'function') break;
  }
}
for (const name of names) collect(name, root, name, 2);

function argumentLists(id) {
  const path = folder + '/canary-' + id;
  const host = 'canary-' + id + '.invalid';
  const file = 'file://' + path;
  const url = 'http://' + host + '/';
  const call = () => {};
  const all = {
    path, filename: path, file: path, cwd: path, hostname: host, host, port: 9, url, transport: 'tcp', read: true,
    recordType: 'A', key: 'x', cert: 'x', data: 'x', env: {}, args: [path], fd: 63, modulePath: path, entry: path,
  };
  return [
    [], [path], [file], [new URL(file)], [host], [url], ['ws://' + host + '/'], [9], [9, host], [host, 9], [host, call], [path, call],
    [9, host, call], [all], [all, call], [{ ...all, transport: 'unix' }], [{ ...all, transport: 'udp' }], [{ ...all, transport: 'vsock', cid: 2 }],
    [path, path + '-to'], [path, 'data'], [path, 'data', call], [path, {}], [path, {}, call], [path, path + '-to', call], [path, []],
    [path, 1, 1], [path, 1, 1, call], [{}, path], [{ ...all, exports: {} }, path], ['/bin/true'], ['/bin/true', []], ['/bin/true', ['x'], call],
    [host, 'A'], [host, {}], [url, {}], [url, {}, call], [url, call], [call], [path, 'r'], [path, 'r', call], [path, { recursive: true }],
    ['npm:' + host], ['canary-' + id], ['./canary-' + id], [all, path], [9, all], [new Uint8Array(8), path], ['x', path], ['sha256', path],
    ['SIGUSR2', call], ['*', path], [path + '/*'], [63], [63, new Uint8Array(8)],
  ];
}

const followed = new Set();
async function follow(path, value, id) {
  if (value === null || typeof value !== 'object' || Array.isArray(value) || ArrayBuffer.isView(value)) return;
  const keys = new Set();
  for (let part = value; part !== null && part !== Object.prototype; part = parent(part)) for (const key of own(part)) keys.add(key);
  for (const key of keys) {
    const name = path + '().' + key;
    if (key === 'constructor' || ENDS.test(name) || followed.has(name)) continue;
    followed.add(name);
    const method = get(value, key);
    if (typeof method !== 'function') continue;
    say('CALL ' + id + ' ' + name);
    for (const list of argumentLists(id)) {
      try { Promise.resolve(Reflect.apply(method, value, list)).catch(() => {}); } catch {}
    }
    await settled(new Promise((done) => later(done, 2)), 10);
  }
}

say('TOTAL ' + targets.length);
for (let id = from; id < targets.length; id += 1) {
  const { path, holder, value } = targets[id];
  if (ENDS.test(path)) continue;
  say('CALL ' + id + ' ' + path);
  const given = [];
  for (const list of argumentLists(id)) {
    try { given.push(Reflect.apply(value, holder, list)); } catch {}
    try { given.push(Reflect.construct(value, list)); } catch {}
  }
  const objects = [];
  for (const each of given) {
    if (each === null || typeof each !== 'object') continue;
    try { each.on?.('error', () => {}); } catch {}
    if (typeof get(each, 'then') === 'function') Promise.resolve(each).then((result) => objects.push(result), () => {});
    else objects.push(each);
  }
  await settled(Promise.allSettled(given.filter((each) => typeof get(each ?? {}, 'then') === 'function')), 40);
  await settled(new Promise((done) => later(done, 3)), 10);
  for (const each of objects.slice(0, 4)) {
    try { await follow(path, each, id); } catch {}
  }
}
say('END');
await settled(new Promise((done) => later(done, 150)), 200);
return null;
`;

/** Code without any interface: loads modules of every kind, and fails in them. */
export const languageCode = String.raw`
const { folder } = input;
const say = (text) => process.stdout.write(text + '\n');
const later = (ms) => new Promise((done) => setTimeout(done, ms));
for (const type of ['error', 'unhandledrejection']) {
  globalThis.addEventListener(type, (event) => { event.preventDefault(); event.stopImmediatePropagation(); }, true);
}
const map = (file) => 'data:application/json;base64,' + btoa(JSON.stringify({ version: 3, sources: [file], names: [], mappings: 'AAAA,IAAI,CAAC,CAAC' }));
const module = (type, text) => 'data:text/' + type + ',' + encodeURIComponent(text);
const canary = (id) => folder + '/canary-' + id;
let id = 0;
const attempts = {};
const add = (name, make) => { attempts[name] = make; };
for (const type of [undefined, 'json', 'text', 'bytes', 'css']) {
  add('import of a file as ' + type, (file) => import('file://' + file, type && { with: { type } }));
}
for (const scheme of ['http', 'https', 'npm', 'jsr', 'blob', 'ext', 'node', 'file']) {
  add('import of ' + scheme, (file, host) => import(scheme + ':' + (scheme.startsWith('http') ? '//' + host + '/x.js' : host)));
  add('import of ' + scheme + ' by a module', (file, host) => import(module('javascript', 'import "' + scheme + '://' + host + '/x.js"')));
}
add('import of a path', (file) => import(file));
add('import of a file by a module', (file) => import(module('javascript', 'import "file://' + file + '"')));
add('deferred import', (file) => Function('return import.defer("file://' + file + '")')());
add('import of a source', (file) => Function('return import.source("file://' + file + '")')());
add('TypeScript', () => import(module('typescript', 'const x: number = 1; export default x;')));
add('JSX with a runtime', (file) => import(module('tsx', '/** @jsxImportSource file://' + file + ' */ export default <a/>;')));
add('types of a file', (file) => import(module('typescript', '/// <reference types="file://' + file + '" />\nexport default 1;')));
add('a source map in a file', (file) => import(module('javascript', 'throw new Error("x")\n//# sourceMappingURL=file://' + file)));
add('a source map at a host', (file, host) => import(module('javascript', 'throw new Error("x")\n//# sourceMappingURL=http://' + host + '/')));
add('a source map that names a file', async (file) => {
  await import(module('javascript', 'setTimeout(() => { throw new Error("x"); });\n//# sourceMappingURL=' + map('file://' + file)));
});
add('evaluated code with the name of a file', (file) => { setTimeout(() => (0, eval)('throw new Error("x")\n//# sourceURL=file://' + file)); });
add('evaluated code with a source map', (file) => { setTimeout(() => (0, eval)('throw new Error("x")\n//# sourceMappingURL=file://' + file)); });
add('WebAssembly that imports', () => import('data:application/wasm;base64,AGFzbQEAAAABBAFgAAACDQEHbm9kZTpmcwF4AAA='));
add('dates', () => [new Date().toString(), new Date().toLocaleString('de-DE', { timeZone: 'Europe/Berlin' }), new File([], 'x').lastModified]);
add('waiting', () => later(1500));
for (const [name, attempt] of Object.entries(attempts)) {
  id += 1;
  say('CALL ' + id + ' ' + name);
  try { await attempt(canary(id), 'canary-' + id + '.invalid'); } catch {}
  await later(20);
}
say('END');
return null;
`;
