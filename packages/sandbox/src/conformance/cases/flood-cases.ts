import assert from 'node:assert/strict';
import type { RunOutcome } from '../../protocol/run-options.js';
import type { SandboxDriver } from '../../sandbox.js';
import { type ConformanceCase, driveTakenOver, evaluate, startCode } from '../conformance-case.js';
import { assertLoopStaysFree } from '../loop-watch.js';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Prefix of each flood. `write` writes bytes or text unbuffered, on Deno and on Node. */
const WRITE = `
  const encoder = new TextEncoder();
  const write = (data, stream = 'stdout') => {
    let rest = typeof data === 'string' ? encoder.encode(data) : data;
    if (globalThis.Deno === undefined) return new Promise((done) => process[stream].write(rest, () => done()));
    while (rest.length > 0) rest = rest.subarray(Deno[stream].writeSync(rest));
  };
  const filled = (text, bytes) => text.repeat(Math.floor(bytes / encoder.encode(text).length));
`;

/** Writes a text repeatedly in chunks of one size, up to the limit of total output. */
const inChunks = (text: string, chunkBytes: number, totalBytes = 4 * MIB - 64 * KIB): string => `
  const chunk = encoder.encode(filled(${JSON.stringify(text)}, ${chunkBytes}));
  for (let sent = 0; sent < ${totalBytes}; sent += chunk.length) await write(chunk);`;

/** Output that is expensive for the host to read, by name. */
const FLOODS: Readonly<Record<string, string>> = {
  'newlines in chunks of 64 KiB': inChunks('\n', 64 * KIB),
  'newlines in chunks of 256 KiB': inChunks('\n', 256 * KIB),
  'newlines in one chunk': inChunks('\n', 4 * MIB - 64 * KIB),
  'newlines one by one': inChunks('\n', 1, 60_000),
  'bytes one by one': inChunks('x', 1, 60_000),
  'empty objects': inChunks('{}\n', 64 * KIB),
  'lines that begin like a result': inChunks('{"value":"stdout"}}\n', 64 * KIB),
  'results without printed output': inChunks('{"value":1}\n', 64 * KIB),
  'progress messages': inChunks('{"method":"step","params":{"name":"x","detail":"x"}}\n', 64 * KIB),
  'lines of every length': `
    for (let length = 0; length < 2_000; length += 1) await write('x'.repeat(length) + '\\n');
    for (let length = 2_048; length <= ${MIB}; length *= 2) {
      for (const more of [-1, 0, 1]) await write('x'.repeat(length + more) + '\\n');
    }`,
  'characters cut into pieces': `
    const bytes = encoder.encode(filled('€😀ü', 300_000) + '\\n');
    for (let at = 0, size = 1; at < bytes.length; at += size, size = (size % 5) + 1) await write(bytes.subarray(at, at + size));`,
  'null characters': inChunks('\0', 64 * KIB, MIB - 1),
  'lines of null characters': inChunks('\0\n', 64 * KIB),
  'bytes that are not UTF-8': `
    const bytes = new Uint8Array(${MIB - 1}).fill(0xff);
    for (let times = 0; times < 3; times += 1) { await write(bytes); await write('\\n'); }`,
  'brackets without end': inChunks('[', 64 * KIB),
  'a result nested without end': `await write('{"value":' + '['.repeat(500_000) + ']'.repeat(500_000) + ',"stdout":""}\\n');`,
  'lines of a megabyte that are nearly results': `
    const text = '"' + 'x'.repeat(${MIB - 100}) + '"';
    for (let times = 0; times < 3; times += 1) await write('{"value":' + text + ',"stdout":1}\\n');`,
  'lines of a megabyte of escapes': `
    const text = '"' + filled('\\\\ud800', ${MIB - 100}) + '"';
    for (let times = 0; times < 3; times += 1) await write('{"value":' + text + ',"stdout":1}\\n');`,
  'results of unpaired surrogates': `
    const text = '"' + filled('\\\\ud800', ${MIB - 100}) + '"';
    for (let times = 0; times < 3; times += 1) await write('{"value":' + text + ',"stdout":""}\\n');`,
  'lines of many arrays': `
    const text = '[' + filled('[],', ${MIB - 200}) + '0]';
    for (let times = 0; times < 3; times += 1) await write('{"value":' + text + ',"stdout":1}\\n');`,
  'lines of many names': `
    let text = '{"x":0';
    for (let name = 0; text.length < ${MIB - 200}; name += 1) text += ',"k' + name + '":0';
    for (let times = 0; times < 3; times += 1) await write('{"value":' + text + '},"stdout":1}\\n');`,
  'as many names as a value may have': `
    let text = '{"x":0';
    for (let name = 0; name < 7_500; name += 1) text += ',"k' + name + '":0';
    for (let times = 0; times < 6; times += 1) await write('{"value":' + text + '},"stdout":1}\\n');`,
  'output and errors by turns': `
    for (let times = 0; times < 400; times += 1) {
      await write('x\\n'.repeat(2_000));
      await write('e\\n'.repeat(2_000), 'stderr');
    }`,
};

/** Prefix of each busy agent. `ask` sends a request and waits for its reply, on Deno and on Node. */
const ASK = `
  const buffer = new Uint8Array(64 * 1024);
  if (globalThis.Deno === undefined) process.stdin.on('readable', () => { while (process.stdin.read() !== null); });
  let id = 0;
  const ask = async (method, params) => {
    id += 1;
    const answered = globalThis.Deno === undefined && new Promise((resolve) => process.stdin.once('data', resolve));
    await write('{"id":' + id + ',"method":"' + method + '","params":' + params + '}\\n');
    if (globalThis.Deno !== undefined) Deno.stdin.readSync(buffer);
    await answered;
  };
  let names = '{"x":0';
  for (let name = 0; name < 7_500; name += 1) names += ',"k' + name + '":0';
  names += '}';
`;

/** Valid requests of a compromised runner that are expensive for the host, by name. */
const BUSY_AGENTS: Readonly<Record<string, string>> = {
  'asks for checks of large answers': `
    for (let times = 0; times < 20; times += 1) await ask('output.check', '{"output":' + names + '}');`,
  'asks for checks of long texts': `
    const output = '{"output":"' + filled('\\\\u0001', ${MIB - 100}) + '"}';
    for (let times = 0; times < 10; times += 1) await ask('output.check', output);`,
  'asks for checks of unpaired surrogates': `
    const output = '{"output":"' + filled('\\\\ud800', 6 * 38_000) + '"}';
    for (let times = 0; times < 10; times += 1) await ask('output.check', output);`,
  'asks for long code to be run': `
    const params = '{"language":"javascript","code":"' + 'x'.repeat(${MIB - 200}) + '"}';
    for (let times = 0; times < 10; times += 1) await ask('code.evaluate', params);`,
  'asks its model at length': `
    const text = '"' + filled('\\\\u0001', 120 * 1024) + '"';
    await write('{"method":"say","params":{"messages":[{"role":"user","content":"x"}]}}\\n');
    for (let times = 0; times < 20; times += 1) await write('{"method":"say","params":{"text":' + text + '}}\\n');
    await ask('model.complete', '{"messages":[],"tools":[],"toolChoice":"none"}');`,
  'asks its model in unpaired surrogates': `
    const text = '"' + filled('\\\\udc00', 120 * 1024) + '"';
    await write('{"method":"say","params":{"messages":[{"role":"user","content":"x"}]}}\\n');
    for (let times = 0; times < 20; times += 1) await write('{"method":"say","params":{"text":' + text + '}}\\n');
    await ask('model.complete', '{"messages":[],"tools":[],"toolChoice":"none"}');`,
  'ends with a large answer after many steps': `
    const step = '{"method":"step","params":{"name":"x","detail":"' + 'x'.repeat(500) + '"}}\\n';
    await write(step.repeat(999));
    await write('{"type":"done","status":"completed","output":' + names + '}\\n');`,
};

/** The floods as code of a model, by name. */
export const floodCode: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(FLOODS).map(([what, flood]) => [what, `${WRITE}${flood}\nreturn 'flooded';`]),
);

/** Runs a flood as a compromised runner, with a host that answers every request. Checks that the run fails. */
async function floodRun(driver: SandboxDriver, flood: string): Promise<RunOutcome & { status: 'failed' }> {
  const outcome = await driveTakenOver(await startCode(driver, `${WRITE}${flood}`), {
    run: {
      runId: 'run-1',
      task: 'a task',
      tools: [{ name: 'run_javascript', scope: 'input_only' }],
      outputSchema: { type: 'string' },
      maxSteps: 2,
    },
    completeModel: ({ messages }) => {
      JSON.stringify(messages);
      return Promise.resolve({ content: 'x', toolCalls: [], finishReason: 'stop' });
    },
    evaluate: () => Promise.resolve({ value: 1, stdout: '' }),
    checkOutput: () => ({ valid: false, errors: ['it is another one'] }),
  });
  assert.ok(outcome.status === 'failed');
  return outcome;
}

const threat = "blocking the server's event loop with output";

export const floodCases: readonly ConformanceCase[] = [
  ...Object.entries(FLOODS).flatMap(([what, flood]): ConformanceCase[] => [
    {
      name: `keeps the event loop free while code writes ${what}`,
      threat,
      check: (driver) =>
        assertLoopStaysFree(async () => {
          const evaluation = await evaluate(driver, floodCode[what] ?? '', { timeoutMs: 60_000 });
          assert.ok('error' in evaluation || evaluation.value === 'flooded', JSON.stringify(evaluation));
        }),
    },
    {
      name: `keeps the event loop free while an agent writes ${what}`,
      threat,
      check: (driver) => assertLoopStaysFree(() => floodRun(driver, flood)),
    },
  ]),
  ...Object.entries(BUSY_AGENTS).map(([what, code]): ConformanceCase => ({
    name: `keeps the event loop free while an agent ${what}`,
    threat,
    check: (driver) =>
      assertLoopStaysFree(async () => {
        const { failure } = await floodRun(driver, `${ASK}${code}\nprocess.exit(0);`);
        const { cause, detail } = failure;
        assert.ok(cause !== 'protocol', detail);
      }),
  })),
];
