import { Connection, Keypair, SystemProgram } from '@solana/web3.js';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { browserPath, openBrowser } from '../support/browser/browser.js';
import { LIGHTHOUSE, lighthouse } from '../support/browser/lighthouse.js';
import type { WalletKind } from '../support/browser/test-wallet.js';
import { logIn, says, withWallet } from '../support/browser/wallet-page.js';
import { walletKinds } from '../support/browser/wallet-kinds.js';
import { call } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

const pay = (page: Page) => page.getByRole('button', { name: 'Pay with Test wallet' }).click();

// On the chain of the tests a stand-in for Lighthouse accepts the assertions: `addLighthouse`.
describe.runIf(browserPath !== undefined)('in the browser, a wallet', () => {
  let marketplace: Marketplace;
  let connection: Connection;
  let browser: Browser;
  beforeAll(async () => {
    marketplace = await attach(inject('stateDir'));
    connection = new Connection(marketplace.dev.rpc_url, 'finalized');
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  /** The transactions of a wallet's address, newest first. */
  const landed = ({ wallet }: Participant) => connection.getSignaturesForAddress(wallet.publicKey);

  test.each(['Phantom', 'Solflare', 'Ledger'] as const)(
    'like %s logs in, creates a key and rents [ID-40] [SVC-19]',
    async (name) => {
      const kind = walletKinds(connection)[name];
      const owner = await newParticipant(marketplace);
      const { id } = marketplace.listing('per_query');
      await withWallet(
        browser,
        { marketplace, owner, path: '/dashboard/keys', kind },
        async (page, wallet) => {
          await logIn(page);
          expect(wallet.signIns).toHaveLength(kind.signsIn ? 1 : 0);
          await page.getByLabel('Label').fill('by a wallet');
          await page.getByRole('button', { name: 'Create' }).click();
          await says(page, 'The key was created.');
          const token = (await page.getByLabel('The new key').textContent()) ?? '';
          expect((await call(marketplace, 'GET', '/v1/credentials', { token })).status).toBe(200);
          await page.goto(new URL(`/dashboard/rent/${id}`, marketplace.dev.base_url).href);
          await pay(page);
          await says(page, /^Done: /);
          expect(wallet.transactions).toBe(1);
        },
      );
      expect(await owner.client.verifyCredential(id)).toMatchObject({ valid: true });
      const [rental] = await landed(owner);
      const sent = await connection.getTransaction(rental?.signature ?? '', {
        maxSupportedTransactionVersion: 0,
      });
      const { staticAccountKeys: keys = [], compiledInstructions = [] } = sent?.transaction.message ?? {};
      const assertions = compiledInstructions.filter(({ programIdIndex: at }) =>
        keys[at]?.equals(LIGHTHOUSE),
      );
      expect(assertions).toHaveLength(kind.assertions);
    },
  );

  test('that adds a write of Lighthouse, a transfer or a writable account is refused, and nothing is sent [TXN-16]', async () => {
    const owner = await newParticipant(marketplace);
    const { publicKey: from } = owner.wallet;
    const { publicKey: to } = Keypair.generate();
    const write = lighthouse(Uint8Array.of(0, 0, 255, 0), from);
    const transfer = SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: 1_000_000 });
    const assertion = lighthouse(Buffer.from('060401030000', 'hex'), to);
    for (const key of assertion.keys) key.isWritable = true;
    let added = write;
    const kind: WalletKind = { change: ({ instructions }) => void instructions.push(added) };
    const before = await landed(owner);
    const path = `/dashboard/rent/${marketplace.listing('per_query').id}`;
    await withWallet(browser, { marketplace, owner, path, kind }, async (page, wallet) => {
      const sent: string[] = [];
      page.on('request', (request) => {
        if (request.url().endsWith('/v1/transactions/submit')) sent.push(request.postData() ?? '');
      });
      for (const [instruction, fault] of [
        [write, `calls ${LIGHTHOUSE.toBase58()}`],
        [transfer, `calls ${SystemProgram.programId.toBase58()}`],
        [assertion, 'may write to an account that it should only read'],
      ] as const) {
        added = instruction;
        await pay(page);
        await says(page, `Nothing was rented. The transaction was refused: it ${fault}.`);
      }
      expect(wallet.transactions).toBe(3);
      expect(sent).toEqual([]);
    });
    expect(await landed(owner)).toEqual(before);
  });
});
