import { createClient, type RentalClient } from '@agent-rental/sdk';
import { createApiKey, keypairSigner } from '@agent-rental/sdk/solana';
import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { blocksOf } from '../docs/commands.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { startCuttingProxy, type CuttingProxy } from './cutting-proxy.js';

let stateDir: string;
let marketplace: OwnMarketplace;
let proxy: CuttingProxy;
beforeAll(async () => {
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir, { EXAMPLES: 'off' });
  proxy = await startCuttingProxy(marketplace.dev.base_url);
});
afterAll(async () => {
  await proxy?.close();
  await marketplace?.stop();
  await removeStateDir(stateDir);
});

const clientOf = (wallet: Keypair): RentalClient =>
  createClient({ baseUrl: marketplace.dev.base_url, signer: keypairSigner(wallet) });

/** Makes keys with these labels; each is an event. */
async function makeKeys(wallet: Keypair, labels: string[]): Promise<void> {
  const client = clientOf(wallet);
  for (const label of labels) {
    const { id } = await createApiKey(client, keypairSigner(wallet), label);
    await client.revokeApiKey(id);
  }
}

test('a follower hears each event once, in order, over cut connections and a restart', async () => {
  const wallet = Keypair.generate();
  const stop = new AbortController();
  const client = createClient({ baseUrl: proxy.origin, signer: keypairSigner(wallet), retries: 10 });
  const heard: string[] = [];
  const following = (async () => {
    for await (const { data } of client.events({ types: ['key.created'], after: '0', signal: stop.signal })) {
      heard.push(data.label);
    }
  })();
  const labels = Array.from({ length: 40 }, (_, n) => `key ${n}`);
  await makeKeys(wallet, labels.slice(0, 15));
  await vi.waitFor(() => expect(heard).toHaveLength(15), { timeout: 60_000 });
  await marketplace.stop();
  marketplace = await startMarketplace(stateDir, { EXAMPLES: 'off' });
  proxy.target = marketplace.dev.base_url;
  await makeKeys(wallet, labels.slice(15));
  await vi.waitFor(() => expect(heard.length).toBeGreaterThanOrEqual(40), { timeout: 60_000 });
  stop.abort();
  await following;
  expect(heard).toEqual(labels);
  expect(proxy.cuts).toBeGreaterThan(3);
});

test('the program in docs/events.md hears the events after its kept cursor', async () => {
  const wallet = Keypair.generate();
  const client = clientOf(wallet);
  const [block] = blocksOf('docs/events.md').filter(({ language }) => language === 'ts');
  const code = (block?.code ?? '').replace('run.completed', 'key.created');
  const program = (heard: string[], count: number) =>
    // oxlint-disable-next-line typescript/no-implied-eval
    new Function('client, readCursor, handle, keepCursor', `return (async () => {${code}})()`)(
      client,
      async () => cursor,
      async (event: { data: { label: string } }) => heard.push(event.data.label),
      async (next: string) => {
        cursor = next;
        if (heard.length === count) throw new Error('heard all');
      },
    ) as Promise<void>;
  let cursor = '0';
  await makeKeys(wallet, ['first', 'second']);
  for (const expected of [['first'], ['second']]) {
    const heard: string[] = [];
    await expect(program(heard, 1)).rejects.toThrow('heard all');
    expect(heard).toEqual(expected);
  }
});

test('a key that is revoked hears of nothing more, and is told so', async () => {
  const wallet = Keypair.generate();
  const owner = clientOf(wallet);
  const made = await createApiKey(owner, keypairSigner(wallet), 'follower');
  const events = createClient({ baseUrl: marketplace.dev.base_url, apiKey: made.key }).events({
    after: '0',
  });
  const refused = events.next().catch((error: unknown) => error);
  await owner.revokeApiKey(made.id);
  await createApiKey(owner, keypairSigner(wallet), 'wakes the stream');
  expect(await refused).toMatchObject({ status: 401 });
});

test('a key without the scope is refused', async () => {
  const wallet = Keypair.generate();
  const made = await createApiKey(clientOf(wallet), keypairSigner(wallet), 'seller', {
    scopes: ['publish'],
  });
  const client = createClient({ baseUrl: marketplace.dev.base_url, apiKey: made.key });
  await expect(client.events().next()).rejects.toMatchObject({ status: 403 });
});
