import { sql } from 'kysely';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { resealAll } from '../database/sealed-places.js';
import { createTokens, createRegisteredClients } from '../identity/index.js';
import { parseCommand, runCommand } from '../operator/index.js';
import { deriveKeys, type Keys } from '../platform/keys.js';
import { openTestDatabase, type TemporaryDatabase } from '../testing/index.js';
import {
  firstKeyRing,
  KEY_PURPOSE_NAMES,
  type KeyPurposeName,
  type KeyRing,
  listKeys,
  openKeyRing,
  removeEndedKeys,
  rotateKey,
  SEALED_SERVICE_KEYS,
} from './index.js';

const MASTER = Buffer.alloc(32, 21);
const SEALING = Buffer.alloc(32, 22);
const keys = deriveKeys(MASTER);

let database: TemporaryDatabase;
beforeEach(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.close());

async function openRing(given: Keys = keys, readEveryMs = 100) {
  const ring = await openKeyRing(database.db, given, pino({ level: 'silent' }), readEveryMs);
  onTestFinished(() => ring.close());
  return ring;
}

/** The key that signs, without its times. */
function keyOf(ring: KeyRing, purpose: KeyPurposeName) {
  const { kid, number, secret } = ring.present(purpose);
  return { kid, number, secret };
}

async function operate(argv: string[], given: Keys = keys): Promise<string> {
  const command = parseCommand(argv);
  if (command.name === 'help') throw new Error('It is no command.');
  return runCommand(database.db, command, () => ({ keys: given, others: [] }));
}

describe('the keys of the service', () => {
  it('come from the master key at first, on every replica, also with two that start at once [OPS-105]', async () => {
    const rings = await Promise.all([openRing(), openRing()]);
    for (const ring of rings)
      for (const purpose of KEY_PURPOSE_NAMES)
        expect(keyOf(ring, purpose)).toEqual(keyOf(firstKeyRing(keys), purpose));
    expect(await listKeys(database.db)).toHaveLength(KEY_PURPOSE_NAMES.length);
  });

  it('that the environment cannot open end the start, with the remedy', async () => {
    await openRing();
    await expect(openRing(deriveKeys(SEALING))).rejects.toThrow('Add that key to OTHER_SEALING_KEYS');
  });

  it('follow a rotation: the next one counts at once where it is asked for, and signs from its time on [OPS-105, ID-81]', async () => {
    const [here, there] = [await openRing(), await openRing(keys, 600_000)];
    const [tokens, others] = [createTokens(here), createTokens(there)];
    const early = tokens.issue('w').token;
    await rotateKey(database.db, keys, 'tokens', { atOnce: false, leadSeconds: 0 });
    await expect.poll(() => here.present('tokens').number, { timeout: 15_000 }).toBe(2);
    const late = tokens.issue('w').token;
    // The other replica has not read the keys again: it does when a token names one that it does not know.
    expect(await others.verify(late)).toBe('w');
    expect(await others.verify(early)).toBe('w');
    expect(tokens.recall(late)).toBeUndefined();
    await tokens.verify(late);
    expect(tokens.recall(late)).toBe('w');
    await sql`update service_keys set accepted_until = now() where number = 1`.execute(database.db);
    await expect.poll(() => here.accepted('tokens').length, { timeout: 15_000 }).toBe(1);
    await expect(tokens.verify(early)).rejects.toMatchObject({ code: 'unauthorized' });
    expect(await tokens.verify(late)).toBe('w');
  });

  it('accept no signature of a leaked key, not even one verified a moment ago [OPS-105, ID-81]', async () => {
    const ring = await openRing();
    const tokens = createTokens(ring);
    const { token } = tokens.issue('w');
    await tokens.verify(token);
    expect(tokens.recall(token)).toBe('w');
    await rotateKey(database.db, keys, 'tokens', { atOnce: true });
    await expect.poll(() => tokens.recall(token), { timeout: 15_000 }).toBeUndefined();
    await expect(tokens.verify(token)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('keep apps known that registered before a rotation [ID-81]', async () => {
    const ring = await openRing();
    const clients = createRegisteredClients(ring);
    const id = String(
      clients.register({ client_name: 'An app', redirect_uris: ['https://app.example/cb'] })['client_id'],
    );
    await rotateKey(database.db, keys, 'clients', { atOnce: false, leadSeconds: 0 });
    await expect.poll(() => ring.present('clients').number, { timeout: 15_000 }).toBe(2);
    expect(clients.read(id)).toMatchObject({ name: 'An app' });
  });
});

describe('the operator', () => {
  it('sees which key signs, and no key [OPS-105]', async () => {
    await openRing();
    const printed = [
      await operate(['keys']),
      await operate(['rotate-key', 'all']),
      await operate(['keys']),
    ].join('\n');
    for (const purpose of KEY_PURPOSE_NAMES) {
      const [next, first] = (await listKeys(database.db)).filter((key) => key.purpose === purpose);
      expect(printed).toContain(first?.kid.slice(0, 16));
      expect(printed).toContain(next?.kid.slice(0, 16));
    }
    const fresh = await openRing();
    const secrets = KEY_PURPOSE_NAMES.flatMap((purpose) =>
      fresh.accepted(purpose).map(({ secret }) => secret),
    );
    expect(secrets).toHaveLength(14);
    for (const encoding of ['hex', 'base64', 'base64url'] as const)
      for (const secret of [...secrets, MASTER]) expect(printed).not.toContain(secret.toString(encoding));
  });

  it('rotates a key once at a time, and not with an environment whose keys the servers may not open [OPS-105]', async () => {
    await expect(operate(['rotate-key', 'tokens'])).rejects.toThrow('start the server once');
    await openRing();
    await expect(
      operate(['rotate-key', 'tokens'], deriveKeys(MASTER, { present: SEALING, others: [MASTER] })),
    ).rejects.toThrow('run reseal first');
    await operate(['rotate-key', 'tokens']);
    await expect(operate(['rotate-key', 'tokens'])).rejects.toThrow('waits already');
    await operate(['rotate-key', 'tokens', '--at-once']);
    expect(
      (await listKeys(database.db)).filter(({ purpose }) => purpose === 'tokens').map(({ state }) => state),
    ).toEqual(['signs', 'revoked', 'revoked']);
  });

  it.each([
    [['rotate-key'], 'Wrong number of arguments'],
    [['rotate-key', 'MC4CAQAwBQYDK2VwBCIEIA=='], 'There is no such key. It is one of'],
    [['rotate-key', 'tokens', '--lead', '14'], 'from 15 to'],
    [['rotate-key', 'tokens', '--lead', '1h'], 'from 15 to'],
    [['rotate-key', 'tokens', '--lead', '60', '--at-once'], 'there is no --lead'],
    [['rotate-master-key', 'now'], 'propose, accept or cancel'],
  ])('%s is refused, and not repeated [OPS-105]', (argv, reason) => {
    expect(() => parseCommand(argv)).toThrow(reason);
    expect(() => parseCommand(argv)).not.toThrow('MC4CAQ');
  });
});

it('a key that has ended is forgotten; the public part of one that signed receipts stays [OPS-105]', async () => {
  const ring = await openRing();
  await operate(['rotate-key', 'all', '--lead', '15']);
  await sql`update service_keys set accepted_until = now() - interval '2 hours' where number = 1`.execute(
    database.db,
  );
  await removeEndedKeys(database.db);
  const rows = await database.db.selectFrom('service_keys').selectAll().where('number', '=', 1).execute();
  expect(rows.map(({ sealed }) => sealed)).toEqual(rows.map(() => null));
  const again = await openRing();
  expect(again.published('receipts').map(({ kid }) => kid)).toContain(ring.present('receipts').kid);
  // A start stores no first key again.
  expect(again.accepted('challenges').map(({ number }) => number)).toEqual([2]);
});

it('the keys are sealed anew with the next sealing key, and do not change [OPS-105]', async () => {
  const ring = await openRing();
  const changing = deriveKeys(MASTER, { present: SEALING, others: [MASTER] });
  expect(await resealAll(database.db, changing, [SEALED_SERVICE_KEYS])).toEqual({
    resealed: 7,
    changedMeanwhile: 0,
  });
  const after = await openRing(deriveKeys(MASTER, { present: SEALING }));
  for (const purpose of KEY_PURPOSE_NAMES) expect(keyOf(after, purpose)).toEqual(keyOf(ring, purpose));
});
