import { beforeAll, expect, inject, test } from 'vitest';
import { publishProgram, rentAgent } from '../support/agents/agents.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

/** Leaves a mark in every place where code can keep data, and reports the earlier marks. */
const PROGRAM = `
  const places = {
    global: { get: () => globalThis.mark, set: (mark) => { globalThis.mark = mark; } },
    prototype: { get: () => Object.prototype.mark, set: (mark) => {
      Object.defineProperty(Object.prototype, 'mark', { value: mark, configurable: true, writable: true });
    } },
    storage: { get: () => localStorage.getItem('mark'), set: (mark) => localStorage.setItem('mark', mark) },
    cache: { get: async () => (await caches.has('mark')) ? 'cached' : null, set: () => caches.open('mark') },
    file: { get: () => Deno.readTextFileSync('/tmp/mark'), set: (mark) => Deno.writeTextFileSync('/tmp/mark', mark) },
    environment: { get: () => Deno.env.get('MARK'), set: (mark) => Deno.env.set('MARK', mark) },
  };
  const found = [];
  for (const [name, { get }] of Object.entries(places)) {
    try { if ((await get()) != null) found.push(name); } catch {}
  }
  for (const { set } of Object.values(places)) {
    try { await set(input.mark); } catch {}
  }
  return { found, kept: globalThis.mark === input.mark };`;

let marketplace: Marketplace;
let renters: Participant[];
let agentId: string;
beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  agentId = await publishProgram(marketplace, await newParticipant(marketplace), PROGRAM);
  renters = [await newParticipant(marketplace), await newParticipant(marketplace)];
  for (const renter of renters) await rentAgent(renter, agentId);
});

test('runs find nothing of each other, of the same wallet or another, one after the other and at once [EXE-41]', async () => {
  const run = async (renter: Participant | undefined, mark: string) =>
    (await renter?.client.execute({ agent_id: agentId, task: 'Leave a mark.', input: { mark } }))?.output;
  const [one, other] = renters;
  const outputs = [await run(one, 'first'), await run(one, 'second'), await run(other, 'third')];
  outputs.push(...(await Promise.all([run(one, 'a'), run(one, 'b'), run(other, 'c'), run(other, 'd')])));
  for (const output of outputs) expect(output).toEqual({ found: [], kept: true });
});
