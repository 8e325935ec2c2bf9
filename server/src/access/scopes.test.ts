import { API_KEY_SCOPES, type ApiKeyScope } from '@agent-rental/contract';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../errors/api-error.js';
import { requireScope } from './scopes.js';

const keyWith = (...scopes: ApiKeyScope[]) => ({ apiKey: { id: 'k', scopes, policy: null } });

function refusalOf(attempt: () => void) {
  try {
    attempt();
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.body('req_1');
  }
}

describe('a scope', () => {
  it.each(API_KEY_SCOPES)('%s lets a key pass that has it, and no other key [ID-50]', (scope) => {
    expect(refusalOf(() => requireScope(keyWith(scope), [scope]))).toBeUndefined();
    const others = API_KEY_SCOPES.filter((other) => other !== scope);
    const refusal = refusalOf(() => requireScope(keyWith(...others), [scope]));
    expect(refusal).toMatchObject({
      status: 403,
      code: 'credential_not_found',
      required_scopes: [scope],
      message: expect.stringContaining(`"scopes": ["${scope}"`) as string,
    });
  });

  it('that is one of several lets a key pass', () => {
    expect(refusalOf(() => requireScope(keyWith('rent'), ['run', 'rent']))).toBeUndefined();
    expect(refusalOf(() => requireScope(keyWith('publish'), ['run', 'rent']))).toMatchObject({
      required_scopes: ['run', 'rent'],
    });
  });

  it('of an action is asked for by the action, and an unknown action has none [ID-50]', () => {
    const required = { byAction: { rent: 'rent', close: 'publish' } } as const;
    expect(refusalOf(() => requireScope(keyWith('rent'), required, 'rent'))).toBeUndefined();
    expect(refusalOf(() => requireScope(keyWith('rent'), required, 'close'))).toMatchObject({ status: 403 });
    for (const unknown of [undefined, 'sell', 'constructor', '__proto__']) {
      expect(refusalOf(() => requireScope(keyWith('rent'), required, unknown))).toMatchObject({
        status: 400,
      });
    }
  });

  it('of a login is no key\u2019s, and a login has all [ID-50]', () => {
    const all = keyWith(...API_KEY_SCOPES);
    expect(refusalOf(() => requireScope(all, 'login'))).toMatchObject({ status: 401, code: 'unauthorized' });
    for (const required of ['login', ['publish'], { byAction: {} }] as const) {
      expect(refusalOf(() => requireScope({}, required))).toBeUndefined();
    }
  });
});
