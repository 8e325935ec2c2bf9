import { hash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../database/connection.js';
import { newWallet, openTestDatabase, type TemporaryDatabase } from '../../testing/index.js';
import { createApiKeys } from '../api-keys.js';
import { createAppGrants, type NewGrant } from './app-grants.js';
import { createAppTokens, removeEndedApps } from './app-tokens.js';

const RESOURCE = 'https://market.example/mcp';
const REDIRECT_URI = 'https://app.example/callback';
const VERIFIER = 'v'.repeat(43);

let database: TemporaryDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

function grantOf(changes: Partial<NewGrant> = {}): NewGrant {
  return {
    wallet: newWallet(),
    name: 'An app',
    client: 'https://app.example/client.json',
    clientId: 'https://app.example/client.json',
    redirectUri: REDIRECT_URI,
    redirectHost: 'app.example',
    resource: RESOURCE,
    codeChallenge: hash('sha256', VERIFIER, 'base64url'),
    boundTo: undefined,
    scopes: ['run'],
    policy: undefined,
    ...changes,
  };
}

const store = () => ({ grants: createAppGrants(database.db), tokens: createAppTokens(database.db) });
const redemption = (code: string, grant: NewGrant) => ({
  code,
  clientId: grant.clientId,
  redirectUri: grant.redirectUri,
  verifier: VERIFIER,
  resource: undefined,
  boundTo: undefined,
});

/** Connects an app and gives its first tokens. */
async function connected(changes: Partial<NewGrant> = {}) {
  const { grants, tokens } = store();
  const grant = grantOf(changes);
  const code = await grants.connect(grant);
  const issued = await grants.redeem(redemption(code, grant));
  const refresh = (token: string, changes: { scope?: string; resource?: string; boundTo?: string } = {}) =>
    grants.refresh({
      token,
      clientId: grant.clientId,
      resource: undefined,
      scope: undefined,
      boundTo: undefined,
      ...changes,
    });
  return { grants, tokens, grant, code, issued, refresh };
}

/** Lets some time go by since a wallet's apps have used their refresh tokens. */
async function ageUses(wallet: string, seconds: number): Promise<void> {
  const ids = database.db.selectFrom('api_keys').select('id').where('wallet', '=', wallet);
  await database.db
    .updateTable('oauth_tokens')
    .set({ used_at: sql<Date>`used_at - make_interval(secs => ${seconds})` })
    .where('api_key_id', 'in', ids)
    .execute();
}

/** Lets an hour, or more, go by for everything that is kept of a wallet's apps. */
async function age(wallet: string, seconds: number): Promise<void> {
  const earlier = sql<Date>`expires_at - make_interval(secs => ${seconds})`;
  const { db } = database;
  const ids = db.selectFrom('api_keys').select('id').where('wallet', '=', wallet);
  await db.updateTable('oauth_codes').set({ expires_at: earlier }).where('api_key_id', 'in', ids).execute();
  await db.updateTable('oauth_tokens').set({ expires_at: earlier }).where('api_key_id', 'in', ids).execute();
  await db.updateTable('api_keys').set({ expires_at: earlier }).where('wallet', '=', wallet).execute();
}

describe('a connected app', () => {
  it('acts for its wallet within the signed grant, at its resource alone [ID-41]', async () => {
    const { tokens, grant, issued } = await connected({ policy: { max_day_lamports: 5 } });
    expect(await tokens.verify(issued.access_token, ['https://other.example/mcp', RESOURCE])).toEqual({
      wallet: grant.wallet,
      apiKey: { id: expect.any(String) as string, scopes: ['run'], policy: { max_day_lamports: 5 } },
      boundTo: undefined,
      resource: RESOURCE,
    });
    for (const resources of [[], ['https://other.example/mcp'], [`${RESOURCE}/`]]) {
      await expect(tokens.verify(issued.access_token, resources)).rejects.toMatchObject({
        code: 'unauthorized',
      });
    }
  });

  it('leaves no code and no token readable in the database [ID-44]', async () => {
    const { code, issued } = await connected();
    const { db } = database;
    const rows = [
      ...(await db.selectFrom('api_keys').selectAll().execute()),
      ...(await db.selectFrom('oauth_codes').selectAll().execute()),
      ...(await db.selectFrom('oauth_tokens').selectAll().execute()),
    ];
    const stored = rows.map((row) => Object.values(row).map(String).join()).join();
    for (const secret of [code, issued.access_token.slice(4), issued.refresh_token.slice(4)]) {
      expect(stored).not.toContain(secret);
    }
  });

  it('gets its tokens within 60 seconds or never, and is not listed then [ID-44]', async () => {
    const { grants } = store();
    const grant = grantOf();
    const code = await grants.connect(grant);
    const listed = () => createApiKeys(database.db, 'devnet').list(grant.wallet);
    expect(await listed()).toHaveLength(1);
    await age(grant.wallet, 61);
    await expect(grants.redeem(redemption(code, grant))).rejects.toMatchObject({ code: 'invalid_grant' });
    expect(await listed()).toEqual([]);
  });

  it('has an access token for 15 minutes, and ends after 30 days without use [ID-41, ID-44]', async () => {
    const { tokens, grant, issued, refresh } = await connected();
    await age(grant.wallet, 14 * 60);
    await tokens.verify(issued.access_token, [RESOURCE]);
    await age(grant.wallet, 61);
    await expect(tokens.verify(issued.access_token, [RESOURCE])).rejects.toMatchObject({
      code: 'unauthorized',
    });
    const next = await refresh(issued.refresh_token);
    await age(grant.wallet, 29 * 24 * 3600);
    const last = await refresh(next.refresh_token);
    await age(grant.wallet, 30 * 24 * 3600 + 1);
    await expect(refresh(last.refresh_token)).rejects.toMatchObject({ code: 'invalid_grant' });
    expect(await createApiKeys(database.db, 'devnet').list(grant.wallet)).toEqual([]);
  });

  it('is told from a key, and has none to be verified by [ID-41]', async () => {
    const { grant } = await connected();
    const keys = createApiKeys(database.db, 'devnet');
    const { key } = await keys.create(grant.wallet, { label: 'a key' });
    const listed = await keys.list(grant.wallet);
    expect(listed.map(({ label, app }) => [label, app?.redirect_host])).toEqual([
      ['a key', undefined],
      ['An app', 'app.example'],
    ]);
    expect(await keys.verify(key)).toMatchObject({ wallet: grant.wallet });
  });

  it('is one of the hundred keys and apps that a wallet may have [ID-47]', async () => {
    const { grants } = store();
    const wallet = newWallet();
    for (let count = 0; count < 100; count += 1) await grants.connect(grantOf({ wallet }));
    await expect(grants.connect(grantOf({ wallet }))).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(
      createApiKeys(database.db, 'devnet').create(wallet, { label: 'one more' }),
    ).rejects.toMatchObject({ code: 'invalid_request' });
    // An app with an unused code ends after a minute.
    await age(wallet, 61);
    await grants.connect(grantOf({ wallet }));
  });
});

describe('a refresh token', () => {
  it('that was used gives the same tokens for 30 seconds, then it ends the app [ID-44]', async () => {
    const { tokens, grant, issued, refresh } = await connected();
    const first = await refresh(issued.refresh_token);
    await age(grant.wallet, 20);
    await ageUses(grant.wallet, 29);
    const { expires_in: left, ...again } = await refresh(issued.refresh_token);
    expect({ ...again, expires_in: 900 }).toEqual(first);
    expect(left).toBeLessThanOrEqual(900 - 20);
    const second = await refresh(first.refresh_token);
    await ageUses(grant.wallet, 2);
    await expect(refresh(issued.refresh_token)).rejects.toMatchObject({ code: 'invalid_grant' });
    for (const { access_token: access } of [issued, first, second]) {
      await expect(tokens.verify(access, [RESOURCE])).rejects.toMatchObject({ code: 'unauthorized' });
    }
    await expect(refresh(second.refresh_token)).rejects.toMatchObject({ code: 'invalid_grant' });
  });

  it('that is repeated brings no revoked token back, and nothing to another client [ID-44]', async () => {
    const { grants, tokens, grant, issued, refresh } = await connected();
    const { access_token: access } = await refresh(issued.refresh_token);
    await grants.revoke(access, grant.clientId);
    await removeEndedApps(database.db);
    const again = await refresh(issued.refresh_token);
    expect(again).toMatchObject({ access_token: access, expires_in: 0 });
    await expect(tokens.verify(access, [RESOURCE])).rejects.toMatchObject({ code: 'unauthorized' });
    const stolen = { token: issued.refresh_token, clientId: 'https://thief.example/client.json' };
    const rest = { resource: undefined, scope: undefined, boundTo: undefined };
    await expect(grants.refresh({ ...stolen, ...rest })).rejects.toMatchObject({
      code: 'invalid_grant',
    });
    await refresh(again.refresh_token);
  });

  it('gives fewer scopes where it is asked for them, and keeps all for the next time [ID-41, ID-44]', async () => {
    const { tokens, issued, refresh } = await connected({ scopes: ['run', 'rent'] });
    const narrow = await refresh(issued.refresh_token, { scope: 'offline_access  run publish' });
    expect(narrow.scope).toBe('run');
    expect(await tokens.verify(narrow.access_token, [RESOURCE])).toMatchObject({
      apiKey: { scopes: ['run'] },
    });
    // Another process of the client, which needs all.
    const wide = await refresh(issued.refresh_token);
    expect([wide.scope, wide.refresh_token]).toEqual(['run rent', narrow.refresh_token]);
    expect(await tokens.verify(narrow.access_token, [RESOURCE])).toMatchObject({
      apiKey: { scopes: ['run'] },
    });
    expect((await refresh(narrow.refresh_token, { scope: 'offline_access' })).scope).toBe('run rent');
    const few = await connected({ scopes: ['run'] });
    await expect(few.refresh(few.issued.refresh_token, { scope: 'run rent' })).rejects.toMatchObject({
      code: 'invalid_scope',
    });
    await few.refresh(few.issued.refresh_token, { scope: 'run profile' });
  });

  it.each([`${RESOURCE}/`, 'HTTPS://Market.Example:443/mcp', undefined])(
    'is for its resource in any spelling: %s [ID-44]',
    async (resource) => {
      const { issued, refresh } = await connected();
      const given = resource === undefined ? {} : { resource };
      expect((await refresh(issued.refresh_token, given)).token_type).toBe('Bearer');
    },
  );
});

describe('on two replicas', () => {
  it('a refresh token gives one pair, however many use it at once [ID-44]', async () => {
    const replica = openDatabase(database.url, () => undefined);
    onTestFinished(() => replica.close());
    const { grants, tokens, grant, issued } = await connected();
    const elsewhere = { grants: createAppGrants(replica.db), tokens: createAppTokens(replica.db) };
    const use = (by: typeof grants) =>
      by.refresh({
        token: issued.refresh_token,
        clientId: grant.clientId,
        resource: undefined,
        scope: undefined,
        boundTo: undefined,
      });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) => use(index % 2 === 0 ? grants : elsewhere.grants)),
    );
    const pairs = outcomes.map((outcome) =>
      outcome.status === 'fulfilled'
        ? `${outcome.value.access_token} ${outcome.value.refresh_token}`
        : String(outcome.reason),
    );
    const [pair = '', ...others] = new Set(pairs);
    expect(others).toEqual([]);
    for (const each of [tokens, elsewhere.tokens]) await each.verify(pair.split(' ')[0] ?? '', [RESOURCE]);
  });

  it('a code counts once, and its second use ends the app [ID-44]', async () => {
    const replica = openDatabase(database.url, () => undefined);
    onTestFinished(() => replica.close());
    const { grants, tokens } = store();
    const grant = grantOf();
    const code = await grants.connect(grant);
    const elsewhere = createAppGrants(replica.db);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 === 0 ? grants : elsewhere).redeem(redemption(code, grant)),
      ),
    );
    const won = outcomes.filter((outcome) => outcome.status === 'fulfilled');
    expect(won).toHaveLength(1);
    await expect(tokens.verify(won[0]?.value.access_token ?? '', [RESOURCE])).rejects.toMatchObject({
      code: 'unauthorized',
    });
  });
});

describe('the background work', () => {
  it('removes ended apps, and keeps apps that work or count spends [ID-44]', async () => {
    const [over, spent, working] = [await connected(), await connected(), await connected()];
    const { db } = database;
    await age(over.grant.wallet, 40 * 24 * 3600);
    await age(spent.grant.wallet, 40 * 24 * 3600);
    const idOf = async (wallet: string) =>
      (await db.selectFrom('api_keys').select('id').where('wallet', '=', wallet).executeTakeFirst())?.id;
    await db
      .insertInto('api_key_spends')
      .values({
        id: randomBytes(8).toString('hex'),
        api_key_id: (await idOf(spent.grant.wallet)) ?? '',
        kind: 'rental',
        lamports: 1n,
      })
      .execute();
    await removeEndedApps(db);
    expect(await idOf(over.grant.wallet)).toBeUndefined();
    expect(await idOf(spent.grant.wallet)).toBeDefined();
    const left = await db
      .selectFrom('oauth_tokens')
      .innerJoin('api_keys', 'api_keys.id', 'api_key_id')
      .select('wallet')
      .where(
        'wallet',
        'in',
        [over, spent, working].map(({ grant }) => grant.wallet),
      )
      .execute();
    expect(left.map(({ wallet }) => wallet)).toEqual([working.grant.wallet, working.grant.wallet]);
    await working.tokens.verify(working.issued.access_token, [RESOURCE]);
    await working.refresh(working.issued.refresh_token);
  });
});
