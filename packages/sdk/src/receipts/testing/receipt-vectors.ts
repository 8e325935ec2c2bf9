import { verifyReceipt, type ReceiptEvidence } from '../index.js';
import { seededKeypair, seedOf } from '../../testing/seeded-keys.js';
import { AUTHORITY, batched, charged, freeReceipt, jwksOf, jwsOf, KEYS, KID } from './receipt-evidence.js';

type Evidence = ReturnType<typeof batched>;

const FORMS = (['base64', 'json'] as const).flatMap((encoding) =>
  ([0, 'legacy'] as const).map((version) => ({ encoding, version })),
);
const [first = '', second = '', third = ''] = ['one', 'two', 'three'].map((name) =>
  seededKeypair(`blockhash ${name}`).publicKey.toBase58(),
);
const stranger = seededKeypair('stranger');
const at = { blockhash: first };

const withAnswer = (given: Evidence, answer: object): ReceiptEvidence => ({
  ...given,
  answer: { ...given.answer, ...answer },
});
const withLog = (given: Evidence, log: object) => withAnswer(given, { log: { ...given.answer.log, ...log } });
const withKey = (given: Evidence, fields: object): ReceiptEvidence => ({
  ...given,
  jwks: { keys: [{ ...KEYS.publicKey.export({ format: 'jwk' }), kid: KID, ...fields }] },
});

/** Evidence with one bit of one part changed. */
function flipped(given: Evidence, number: number): ReceiptEvidence {
  const bits = seedOf(`receipt ${number}`);
  const flip = (bytes: Buffer) => {
    const place = bits.readUInt16LE(0) % bytes.length;
    bytes[place] = (bytes[place] ?? 0) ^ (1 << (number % 8));
    return bytes;
  };
  const { answer, transaction } = given;
  if (number % 2 === 0) {
    const { transaction: wire, ...rest } = transaction as { transaction: [string, string] };
    return {
      ...given,
      transaction: {
        ...rest,
        transaction: [flip(Buffer.from(wire[0], 'base64')).toString('base64'), 'base64'],
      },
    };
  }
  return withAnswer(given, { jws: flip(Buffer.from(answer.jws, 'latin1')).toString('latin1') });
}

/** Evidence good and bad. */
function evidences(): ReceiptEvidence[] {
  const batch = batched(at);
  const charge = charged(at);
  const other = batched({ blockhash: second });
  const end = Date.parse(freeReceipt.finished_at) / 1_000;
  const { signature } = batch.answer.log as { signature: string };
  const result = batch.transaction as { transaction: [string, string]; meta: object };
  const [header = '', payload = '', signed = ''] = batch.answer.jws.split('.');
  const jws = (text: string) => withAnswer(batch, { jws: text });
  const receipts = [
    { status: 'failed' as const },
    { credited: true },
    { version: 3 as const, trial: true as const },
  ];
  return [
    ...FORMS.flatMap((form) => [
      batched({ ...form, ...at }),
      charged({ ...form, ...at }),
      charged({ ...form, ...at }, {}, true),
    ]),
    ...receipts.map((said) => batched(at, said)),
    ...[null, 'x', {}, [], { ...batch.answer, jws: 7 }, { ...batch.answer, log: null }].map((answer) => ({
      ...batch,
      answer,
    })),
    ...[{ status: 'failed' }, { cost_lamports: -1 }, { cost_lamports: 1.5 }, { wallet: 'x' }].map((said) =>
      withAnswer(batch, { receipt: { ...batch.answer.receipt, ...said } }),
    ),
    { ...batch, jwks: jwksOf(KEYS.publicKey, 'another') },
    ...[null, {}, { keys: 'x' }, { keys: [null, 7] }].map((jwks) => ({ ...batch, jwks })),
    ...['', `${header}.${payload}`, `${header}.${payload}.${signed}.`, `${header}.${payload}.${signed}=`].map(
      jws,
    ),
    jws(`${header}.${payload}.${'A'.repeat(86)}`),
    jws(`${header}.${Buffer.from('{"wallet":1}').toString('base64url')}.${signed}`),
    jws(`${header}.${payload}.${signed.slice(0, -1)}${signed.endsWith('A') ? 'B' : 'A'}`),
    ...[{ typ: 'JWT' }, { alg: 'HS256' }, { crit: ['exp'] }, { crit: null }].map((said) =>
      jws(jwsOf(freeReceipt, said)),
    ),
    ...[{ ...freeReceipt, version: 4 }, 'text', null, { ...freeReceipt, started_at: 'now' }].map((said) =>
      jws(jwsOf(said)),
    ),
    ...[
      { exp: end },
      { exp: end - 1 },
      { exp: 'soon' },
      { exp: end + 1, revoked: {} },
      { revoked: null },
      { kty: 'EC' },
    ].map((fields) => withKey(batch, fields)),
    { ...batch, programId: stranger.publicKey.toBase58() },
    withAnswer(batch, { log: { status: 'pending', expected_at: '2026-01-05T10:01:00.000Z' } }),
    withAnswer(batch, { log: { status: 'charged', signature } }),
    batched(at, { charge_signature: signature }),
    ...[
      null,
      {},
      { ...result, meta: null },
      { ...result, meta: { err: { InstructionError: [1, 'Custom'] } } },
      { ...result, meta: {} },
      { ...result, version: 1 },
      { ...result, transaction: ['!!!', 'base64'] },
      { ...result, transaction: [`${result.transaction[0]}AAAA`, 'base64'] },
      { ...result, transaction: [result.transaction[0], 'base58'] },
      other.transaction,
    ].map((transaction) => ({ ...batch, transaction })),
    batched({ ...at, signer: stranger }),
    charged({ ...at, signer: stranger }),
    { ...batch, authorities: [] },
    { ...batch, authorities: [stranger.publicKey.toBase58(), AUTHORITY.publicKey.toBase58()] },
    ...[
      { batch: 4 },
      { count: 3 },
      { root: 'd'.repeat(64) },
      { previous_root: '0'.repeat(64) },
      { batch: 0 },
    ].map((log) => withLog(batch, log)),
    {
      ...withLog(batch, { signature: (charge.answer.log as { signature: string }).signature }),
      transaction: charge.transaction,
    },
    ...[
      { leaf_index: 0 },
      { leaf_index: 2 },
      { proof: [] },
      { proof: ['e'.repeat(64)] },
      { proof: ['E'.repeat(64)] },
    ].map((log) => withLog(batch, log)),
    withAnswer(batch, {
      receipt: { ...freeReceipt, cost_lamports: 1 },
      jws: jwsOf({ ...freeReceipt, cost_lamports: 1 }),
    }),
    ...[
      { runId: new Uint8Array(16).fill(9) },
      { priceLamports: 1n },
      { buyer: stranger.publicKey },
      { listingId: 'another-agent-k3x7qa' },
      { programId: stranger.publicKey },
    ].flatMap((change) => [charged(at, change), charged(at, change, true)]),
    ...Array.from({ length: 40 }, (_, number) => flipped(batched({ blockhash: third }), number)),
  ];
}

/** Receipts' evidence, good and bad, with the sdk's answers. A client in another language gives the same answers. */
export async function receiptVectors(): Promise<object[]> {
  return Promise.all(
    evidences().map(async (evidence) => {
      const verified = await verifyReceipt(evidence);
      return { evidence, answer: verified.ok ? { by: verified.log.by } : { part: verified.part } };
    }),
  );
}
