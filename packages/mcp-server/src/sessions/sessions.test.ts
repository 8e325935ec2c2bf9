import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Resumption } from '../http/resumption.js';
import { Sessions } from './sessions.js';
import { createTokenSigner } from './signed-token.js';

const signer = createTokenSigner(randomBytes(32));
const FACTS = {
  protocolVersion: '2025-06-18',
  capabilities: { elicitation: {} },
  clientInfo: { name: 'a-client', version: '1.0.0' },
};

describe('a session', () => {
  it('tells its client’s abilities only to its caller', () => {
    const sessions = new Sessions(signer);
    const session = sessions.open('alice', FACTS);
    expect(sessions.read('alice', session)).toMatchObject(FACTS);
    expect(sessions.read('mallory', session)).toBeUndefined();
  });

  it('is ended only by its caller', () => {
    const sessions = new Sessions(signer);
    const session = sessions.open('alice', FACTS);
    sessions.end(sessions.key('mallory', session));
    expect(sessions.isEnded('alice', session)).toBe(false);
    sessions.end(sessions.key('alice', session));
    expect(sessions.isEnded('alice', session)).toBe(true);
  });

  it('that has ended is remembered among thousands, and forgotten at last', () => {
    const sessions = new Sessions(signer);
    for (let count = 0; count <= 10_000; count += 1) sessions.end(sessions.key('alice', `session ${count}`));
    expect(sessions.isEnded('alice', 'session 0')).toBe(false);
    expect(sessions.isEnded('alice', 'session 1')).toBe(true);
  });
});

describe('the id of a stream’s event', () => {
  const call = {
    key: 'mcp-key',
    request: { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'a_tool' } },
  } as const;

  it('is the call, to its caller, and nothing to another', () => {
    const resumption = new Resumption(signer);
    const next = resumption.eventIds('alice', call)!;
    const [first, second] = [next(), next()];
    expect(first).not.toBe(second);
    for (const id of [first, second]) {
      expect(resumption.read('alice', id)).toMatchObject(call);
      expect(resumption.read('mallory', id)).toBeUndefined();
    }
  });

  it.each([
    ['too long for a header', randomBytes(10_000).toString('hex')],
    ['too long to compress, however short it would become', 'x'.repeat(32_000)],
  ])('is missing for a call that is %s', (_, text) => {
    const params = { name: 'a_tool', arguments: { text } };
    const request = { ...call.request, params };
    expect(new Resumption(signer).eventIds('alice', { ...call, request })).toBeUndefined();
  });
});

describe('a signed token', () => {
  it('is nothing for another purpose, under another secret, or changed', () => {
    const token = signer.write('purpose', { caller: 'ålice' });
    expect(signer.read('purpose', token)).toEqual({ caller: 'ålice' });
    const [payload = '', signature = ''] = token.split('.');
    const [other = ''] = signer.write('purpose', { caller: 'mallory' }).split('.');
    expect(signer.read('another', token)).toBeUndefined();
    expect(createTokenSigner(randomBytes(32)).read('purpose', token)).toBeUndefined();
    const changed = [`${other}.${signature}`, `${payload}.`, payload, `${token}.x`, `${payload}.AAAA`, ''];
    for (const text of changed) expect(signer.read('purpose', text), text).toBeUndefined();
  });
});
