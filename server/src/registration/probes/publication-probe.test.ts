import { PROBES_PER_DAY } from '@agent-rental/contract';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createCreatorSecrets } from '../creator-secrets.js';
import { confirmed, keys, MANIFEST, openRegistration, TERMS } from '../registration.test-support.js';
import { createSampleTaker } from '../samples/samples.js';
import type { AgentProbe, ProbeOutcome } from '../probe-outcome.js';
import { PROBE_TASK } from './probe-records.js';
import { createProber } from './prober.js';

const CONNECTED = { system_prompt: undefined, entrypoint_url: 'https://agent.example.com/run' };
const refusedFor = (reason: 'endpoint_signature' | 'model_key_refused'): ProbeOutcome => ({
  reason,
  httpStatus: 401,
});
const DEAD: ProbeOutcome = { reason: 'endpoint_unreachable', detail: 'the connection failed (ECONNREFUSED)' };

const fixture = await openRegistration({ answersProbes: false });
afterAll(() => fixture.close());
let outcome: ProbeOutcome;
let probed: Parameters<AgentProbe>[0][];

beforeEach(() => {
  outcome = 'reached';
  probed = [];
});

const probe = (id: string) =>
  createProber({
    repository: fixture.repository,
    keys,
    probe: async (agent) => {
      probed.push(agent);
      return outcome;
    },
  }).probe(id);

// Asked-for probes are made at once.
const { requestProbe } = fixture.repository;
fixture.repository.requestProbe = async (id) => {
  const isAsked = await requestProbe(id);
  if (isAsked) await probe(id);
  return isAsked;
};

const requests = (id: string) =>
  fixture.queued.filter(({ task, payload }) => task === PROBE_TASK && payload['listing_id'] === id).length;

async function draft(fields: Record<string, unknown>) {
  const { wallet, id } = await fixture.draft(fields);
  const publish = (isUnverified?: boolean) =>
    fixture.service('automatic').prepareToPublish(wallet, id, undefined, { isUnverified });
  const reasons = async () =>
    (await fixture.update('automatic', wallet, id, { listing: { title: 'A' } })).review?.reasons;
  return { wallet, id, publish, reasons };
}

describe('a publication', () => {
  it.each<[string, Record<string, unknown>, ProbeOutcome, RegExp]>([
    ['a dead endpoint', CONNECTED, DEAD, /could not be reached: the connection failed.*Start the agent/],
    ['a wrong secret', CONNECTED, refusedFor('endpoint_signature'), /answered 401.*webhook secret/],
    [
      'a wrong key',
      { model_key: 'k' },
      refusedFor('model_key_refused'),
      /does not accept the key.*answered 401.*another key/,
    ],
    ['no key', {}, 'reached', /asks for a key.*PUT \/v1\/listings\/:id\/model-key/],
  ])(
    'of an agent with %s is refused, with the reason and the remedy [REG-123]',
    async (_, fields, learned, told) => {
      const { id, publish, reasons } = await draft(fields);
      expect(requests(id)).toBe(1);
      outcome = learned;
      await probe(id);
      await expect(publish()).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringMatching(new RegExp(`${told.source}.*"unverified": true`)) as string,
      });
      expect(await reasons()).toEqual([expect.stringMatching(told)]);
      expect((await fixture.listing(id)).publication_proposed_at).toBeNull();
    },
  );

  it('waits for a probe that is under way, and probes an unreachable agent again [REG-123]', async () => {
    const { id, publish } = await draft(CONNECTED);
    await expect(publish()).rejects.toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 5 });
    outcome = DEAD;
    await probe(id);
    await expect(publish()).rejects.toMatchObject({ code: 'invalid_request' });
    outcome = 'reached';
    await publish();
    expect((await fixture.listing(id)).unverified_at).toBeNull();
  });

  it('goes on unverified where that is asked for, until the agent is reached [REG-123]', async () => {
    const { id, publish } = await draft(CONNECTED);
    outcome = DEAD;
    await probe(id);
    await publish(true);
    expect((await fixture.listing(id)).unverified_at).toBeInstanceOf(Date);
    outcome = 'reached';
    await probe(id);
    expect((await fixture.listing(id)).unverified_at).toBeNull();
    // A listing that was reached is not marked, also where it was asked for.
    await publish(true);
    expect((await fixture.listing(id)).unverified_at).toBeNull();
  });
});

describe('a probe', () => {
  it('comes with a registration and with each change of the address or key, and no other change [REG-120]', async () => {
    const { wallet, id } = await draft(CONNECTED);
    await probe(id);
    const change = (changes: Record<string, unknown>) => fixture.update('automatic', wallet, id, changes);
    await change({ description: 'Reads other invoices, too.' });
    expect(requests(id)).toBe(1);
    await change({ entrypoint_url: 'https://other.example.com/run' });
    expect(requests(id)).toBe(2);
    expect(await fixture.repository.findProbe(id)).toMatchObject({ reached_at: null });
    await probe(id);
    expect(probed.at(-1)).toMatchObject({ entrypointUrl: 'https://other.example.com/run' });
    await change({ entrypoint_url: null, system_prompt: MANIFEST.system_prompt });
    expect(requests(id)).toBe(3);
    await createCreatorSecrets(fixture.repository, keys).setModelKey(wallet, id, 'a-key', confirmed);
    await probe(id);
    expect(probed.at(-1)).toMatchObject({ model: { key: 'a-key' } });
  });

  it('is the sample run, where there is one [REG-120]', async () => {
    const { sample_output: _, ...listing } = TERMS;
    const { id, publish } = await draft({ ...CONNECTED, listing });
    expect(requests(id)).toBe(0);
    const { repository } = fixture;
    await createSampleTaker({ repository, keys, run: async () => ({ output: 'a sample' }) }).take(id);
    await publish();
    expect(probed).toEqual([]);
    const dead = await draft({ ...CONNECTED, listing });
    const failed = { problem: 'It did not answer.', failure: { reason: 'endpoint_unreachable' } } as const;
    await createSampleTaker({ repository, keys, run: async () => failed }).take(dead.id);
    expect(await fixture.repository.findProbe(dead.id)).toMatchObject({ reason: 'endpoint_unreachable' });
  });

  it('of a version that is replaced meanwhile is made again of the one that runs', async () => {
    const { wallet, id } = await draft(CONNECTED);
    const seen: string[] = [];
    await createProber({
      repository: fixture.repository,
      keys,
      probe: async (agent) => {
        if (agent.mode !== 'connected') throw new Error('It is connected.');
        seen.push(agent.entrypointUrl);
        if (seen.length > 1) return 'reached';
        await fixture.update('automatic', wallet, id, { entrypoint_url: 'https://new.example.com/' });
        return DEAD;
      },
    }).probe(id);
    expect(seen).toEqual(['https://agent.example.com/run', 'https://new.example.com/']);
    expect(await fixture.repository.findProbe(id)).toMatchObject({ reason: null });
  });

  it('has a daily limit for each wallet, after which publishing reports the last result [REG-120]', async () => {
    const { wallet, id, publish } = await draft(CONNECTED);
    outcome = DEAD;
    await probe(id);
    const { db } = fixture.database;
    const made = Array.from({ length: PROBES_PER_DAY }, () => ({ wallet }));
    await db.insertInto('probe_requests').values(made).execute();
    expect(await fixture.repository.requestProbe(id)).toBe(false);
    await expect(publish()).rejects.toMatchObject({
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
    await db
      .updateTable('probe_requests')
      .set({ created_at: new Date(Date.now() - 25 * 3_600_000) })
      .where('wallet', '=', wallet)
      .execute();
    expect(await fixture.repository.requestProbe(id)).toBe(true);
  });
});
