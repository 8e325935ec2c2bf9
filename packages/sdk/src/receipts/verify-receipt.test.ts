import { generateKeyPairSync } from 'node:crypto';
import type { RunLogEntry } from '@agent-rental/contract';
import { NO_PREVIOUS_ROOT } from '@agent-rental/program-client';
import { Keypair } from '@solana/web3.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifyReceipt, type ReceiptEvidence } from './index.js';
import {
  AUTHORITY,
  batched,
  charged,
  freeReceipt,
  jwksOf,
  jwsOf,
  KEYS,
  KID,
  PRICE,
} from './testing/receipt-evidence.js';

const FORMS = [
  { encoding: 'base64', version: 0 },
  { encoding: 'json', version: 0 },
  { encoding: 'base64', version: 'legacy' },
  { encoding: 'json', version: 'legacy' },
] as const;

describe('a receipt holds', () => {
  it.each(FORMS)('by its place in a batch: $encoding, version $version [MON-32]', async (form) => {
    const given = batched(form);
    const { signature, root } = given.answer.log as Extract<RunLogEntry, { status: 'logged' }>;
    const previousRoot = 'c'.repeat(64);
    expect(await verifyReceipt(given)).toEqual({
      ok: true,
      receipt: freeReceipt,
      authority: AUTHORITY.publicKey.toBase58(),
      log: { by: 'run_log', signature, batch: 3n, count: 2, leafIndex: 1, root, previousRoot },
    });
  });

  it.each(FORMS)(
    'by its charge, also one of several or of a consume_queries: $encoding, version $version [MON-32, MON-9]',
    async (form) => {
      for (const isBatch of [false, true])
        expect(await verifyReceipt(charged(form, {}, isBatch))).toMatchObject({
          ok: true,
          log: { by: 'charge', lamports: BigInt(PRICE) },
        });
    },
  );

  it('of a free first run, which says so [EXE-100]', async () => {
    const trial = { version: 3, agent_version: 2, version_change: null, trial: true } as const;
    const verified = await verifyReceipt(batched({}, trial));
    expect(verified).toMatchObject({ ok: true, receipt: { version: 3, trial: true, cost_lamports: 0 } });
  });

  it('by any of the authorities that the caller names', async () => {
    const given = batched();
    const authorities = [Keypair.generate().publicKey.toBase58(), ...given.authorities];
    expect(await verifyReceipt({ ...given, authorities })).toMatchObject({ ok: true });
  });
});

describe('a receipt is refused, with its wrong part', () => {
  const fails = async (given: ReceiptEvidence, part: string) => {
    expect(await verifyReceipt(given)).toMatchObject({ ok: false, part });
  };
  const withLog = (given: ReturnType<typeof batched>, log: object) => ({
    ...given,
    answer: { ...given.answer, log: { ...given.answer.log, ...log } },
  });

  it('answer: no receipt at all, or another one than was signed [MON-32]', async () => {
    const given = batched();
    for (const answer of [null, 'x', {}, { ...given.answer, jws: 7 }, { ...given.answer, log: undefined }]) {
      await fails({ ...given, answer }, 'answer');
    }
    const receipt = { ...given.answer.receipt, status: 'failed' };
    await fails({ ...given, answer: { ...given.answer, receipt } }, 'answer');
  });

  it('jws: another key, another type, a changed payload, a critical header, no signature [MON-32]', async () => {
    const given = batched();
    const other = generateKeyPairSync('ed25519');
    await fails({ ...given, jwks: jwksOf(other.publicKey) }, 'jws');
    await fails({ ...given, jwks: jwksOf(KEYS.publicKey, 'another') }, 'jws');
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
    for (const jwks of [null, {}, { keys: 'x' }, { keys: [null, 7] }, jwksOf(rsa)]) {
      await fails({ ...given, jwks }, 'jws');
    }
    const [header, payload, signature] = given.answer.jws.split('.') as [string, string, string];
    const changed = Buffer.from(JSON.stringify({ ...freeReceipt, wallet: AUTHORITY.publicKey.toBase58() }));
    const unsigned = Buffer.from(JSON.stringify({ alg: 'none', typ: 'agent-rental-receipt', kid: KID }));
    for (const jws of [
      '',
      `${header}.${payload}`,
      `${header}.${payload}.${signature}.`,
      `${header}.${changed.toString('base64url')}.${signature}`,
      `${unsigned.toString('base64url')}.${payload}.`,
      `${header}.${payload}.${signature}=`,
      `${header}.${payload}.${'A'.repeat(86)}`,
      'a.'.repeat(60_000),
      jwsOf(freeReceipt, { typ: 'JWT' }),
      jwsOf(freeReceipt, { alg: 'HS256' }),
      jwsOf(freeReceipt, { crit: ['exp'] }),
      jwsOf(freeReceipt, {}, other.privateKey),
      jwsOf({ ...freeReceipt, version: 4 }),
      jwsOf('text'),
    ]) {
      await fails({ ...given, answer: { ...given.answer, jws } }, 'jws');
    }
  });

  it('jws: a leaked key, and a key that expired before the run ended; a former key stays good for its signatures [OPS-105]', async () => {
    const given = batched();
    const endedAt = Date.parse(freeReceipt.finished_at) / 1_000;
    const withKey = (fields: object) => ({
      ...given,
      jwks: { keys: [{ ...KEYS.publicKey.export({ format: 'jwk' }), kid: KID, ...fields }] },
    });
    for (const fields of [{ exp: endedAt }, { nbf: endedAt - 1, exp: endedAt + 1 }])
      expect(await verifyReceipt(withKey(fields))).toMatchObject({ ok: true });
    await fails(withKey({ exp: endedAt - 1 }), 'jws');
    await fails(withKey({ exp: endedAt + 1, revoked: { revoked_at: endedAt + 1 } }), 'jws');
    await fails(withKey({ exp: 'soon' }), 'jws');
  });

  it('program: another marketplace than the caller’s [MON-32]', async () => {
    await fails({ ...batched(), programId: Keypair.generate().publicKey.toBase58() }, 'program');
  });

  it('log: a run not yet on-chain, or in the wrong kind of log [MON-32]', async () => {
    const given = batched();
    const pending = { status: 'pending', expected_at: '2026-01-05T10:01:00.000Z' };
    await fails({ ...given, answer: { ...given.answer, log: pending } }, 'log');
    const { signature } = given.answer.log as { signature: string };
    await fails({ ...given, answer: { ...given.answer, log: { status: 'charged', signature } } }, 'log');
    await fails(batched({}, { charge_signature: signature }), 'log');
  });

  it('transaction: malformed, failed, another transaction, or without its result [MON-32]', async () => {
    const given = batched();
    const other = batched();
    const result = given.transaction as { transaction: [string, string]; meta: object };
    for (const transaction of [
      null,
      {},
      { ...result, meta: null },
      { ...result, meta: { err: { InstructionError: [1, 'Custom'] } } },
      { ...result, meta: {} },
      { ...result, transaction: ['!!!', 'base64'] },
      { ...result, transaction: [`${result.transaction[0]}AAAA`, 'base64'] },
      { ...result, transaction: ['A'.repeat(1_999), 'base64'] },
      { ...result, transaction: [result.transaction[0], 'base58'] },
      other.transaction,
    ]) {
      await fails({ ...given, transaction }, 'transaction');
    }
  });

  it('authority: signed by a key that the caller did not name [MON-32]', async () => {
    await fails(batched({ signer: Keypair.generate() }), 'authority');
    await fails(charged({ signer: Keypair.generate() }), 'authority');
    await fails({ ...batched(), authorities: [] }, 'authority');
    // The bytes name the authority, but another key has signed.
    const given = batched({ encoding: 'json' });
    const result = structuredClone(given.transaction) as {
      transaction: { message: { recentBlockhash: string } };
    };
    result.transaction.message.recentBlockhash = Keypair.generate().publicKey.toBase58();
    await fails({ ...given, transaction: result }, 'authority');
  });

  it('memo: another number, count or root, or no memo [MON-32]', async () => {
    const given = batched();
    const [root, previous_root] = ['d'.repeat(64), NO_PREVIOUS_ROOT];
    for (const log of [{ batch: 4 }, { count: 3 }, { root }, { previous_root }])
      await fails(withLog(given, log), 'memo');
    const charge = charged();
    const { signature } = charge.answer.log as { signature: string };
    const swapped = withLog(given, { signature });
    await fails({ ...swapped, transaction: charge.transaction }, 'memo');
  });

  it('proof: another place, another neighbour, and a run that is not in the batch [MON-32]', async () => {
    const given = batched();
    const proofs = [0, 1, 2, 10_000].map((length) => Array.from({ length }, () => 'e'.repeat(64)));
    for (const log of [{ leaf_index: 0 }, { leaf_index: 2 }, ...proofs.map((proof) => ({ proof }))]) {
      await fails(withLog(given, log), 'proof');
    }
    const other = { ...freeReceipt, run_id: '11111111-1111-4111-8111-111111111111' };
    const answer = { ...given.answer, receipt: other, jws: jwsOf(other) };
    await fails({ ...given, answer }, 'proof');
  });

  it('charge: another run, price, wallet, listing or program [MON-32]', async () => {
    for (const charge of [
      { runId: new Uint8Array(16).fill(9) },
      { priceLamports: BigInt(PRICE) + 1n },
      { buyer: Keypair.generate().publicKey },
      { listingId: 'another-agent-k3x7qa' },
      { programId: Keypair.generate().publicKey },
    ]) {
      await fails(charged({}, charge), 'charge');
      await fails(charged({}, charge, true), 'charge');
    }
  });
});

it('evidence of any form is a result, never an exception', async () => {
  const given = batched();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('answer', 'jwks', 'transaction'),
      fc.oneof(
        fc.jsonValue(),
        fc.record({ transaction: fc.jsonValue(), meta: fc.constant({ err: null }), version: fc.jsonValue() }),
        fc.record({ keys: fc.array(fc.jsonValue()) }),
        fc.jsonValue().map((log) => ({ ...given.answer, log })),
        fc.string().map((jws) => ({ ...given.answer, jws })),
      ),
      async (part, hostile) => {
        expect(await verifyReceipt({ ...given, [part]: hostile })).toMatchObject({ ok: false });
      },
    ),
    { numRuns: 300 },
  );
});

it('a transaction with any one byte changed is refused', async () => {
  const given = batched();
  const { transaction, ...rest } = given.transaction as { transaction: [string, string] };
  const wire = Buffer.from(transaction[0], 'base64');
  for (let at = 0; at < wire.length; at += 1) {
    const changed = Buffer.from(wire);
    changed[at] = (changed[at] ?? 0) ^ 1;
    const result = { ...rest, transaction: [changed.toString('base64'), 'base64'] };
    expect(await verifyReceipt({ ...given, transaction: result })).toMatchObject({ ok: false });
  }
});

it('a wrong argument of the caller is an exception', async () => {
  const given = batched();
  await expect(verifyReceipt({ ...given, programId: 'x' })).rejects.toThrow(TypeError);
  await expect(verifyReceipt({ ...given, authorities: ['0'] })).rejects.toThrow(TypeError);
});
