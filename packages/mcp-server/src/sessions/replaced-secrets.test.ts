import type { ServerContext } from '@modelcontextprotocol/server';
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createAskedStateCodec } from './asked-state-codec.js';
import { createTokenSigner } from './signed-token.js';

const context = {} as ServerContext;
const [first, next] = [randomBytes(32), randomBytes(32)];

/** Secrets during a rotation: before, meanwhile and afterwards. */
const SECRETS = { before: [first], meanwhile: [first, next], changed: [next, first], after: [next] } as const;

it('a client’s state is read while its secret is valid, and written with the first secret [ID-81]', () => {
  let secrets: readonly [Uint8Array, ...Uint8Array[]] = SECRETS.before;
  const signer = createTokenSigner(() => secrets);
  const old = signer.write('session', { a: 1 });
  secrets = SECRETS.meanwhile;
  expect(createTokenSigner(first).read('session', signer.write('session', 2))).toBe(2);
  secrets = SECRETS.changed;
  expect(signer.read('session', old)).toEqual({ a: 1 });
  expect(signer.read('task', old)).toBeUndefined();
  const late = signer.write('session', 3);
  secrets = SECRETS.after;
  expect(signer.read('session', old)).toBeUndefined();
  expect(signer.read('session', late)).toBe(3);
});

it('a question can be answered while its secret is valid [ID-81]', async () => {
  let secrets: readonly [Uint8Array, ...Uint8Array[]] = SECRETS.before;
  const codec = createAskedStateCodec(() => secrets);
  const asked = { asked: 'a', question: 'q' };
  const old = await codec.mint(asked, context);
  secrets = SECRETS.changed;
  expect(await codec.verify(old, context)).toEqual(asked);
  secrets = SECRETS.after;
  await expect(codec.verify(old, context)).rejects.toThrow('mac');
  expect(await codec.verify(await codec.mint(asked, context), context)).toEqual(asked);
});
