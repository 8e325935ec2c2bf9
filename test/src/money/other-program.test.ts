import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createClient } from '@agent-rental/sdk';
import { createMarketplaceWallet, rent } from '@agent-rental/sdk/solana';
import { rentedTools } from '@agent-rental/langchain';
import { payingWallet } from '@agent-rental/tools';
import { findProtocolAddress, MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Connection, Keypair, PublicKey } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserPath, openBrowser } from '../support/browser/browser.js';
import { addTestWallet } from '../support/browser/test-wallet.js';
import { call } from '../support/http.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

const CLI = fileURLToPath(new URL('bin.js', import.meta.resolve('@agent-rental/cli')));
const MCP = fileURLToPath(new URL('bin.js', import.meta.resolve('@agent-rental/mcp-server')));
const OTHER = Keypair.generate().publicKey.toBase58();
/** The text of a refusal: the program of the transaction, the program that the client knows, and the setting. */
const REFUSAL = new RegExp(
  `calls the program ${OTHER}, not the client's marketplace program ${MARKETPLACE_PROGRAM_ID.toBase58()}[^]*programId[^]*AGENT_RENTAL_PROGRAM_ID`,
);

let stateDir: string;
let folder: string;
let marketplace: OwnMarketplace;
beforeAll(async () => {
  stateDir = await newStateDir();
  folder = await mkdtemp(join(tmpdir(), 'other program '));
  // Its own examples are stock clients, which publish and rent.
  marketplace = await startMarketplace(stateDir, { PROGRAM_ID: OTHER });
}, 120_000);
afterAll(async () => {
  await marketplace?.stop();
  await removeStateDir(stateDir);
  await rm(folder, { recursive: true });
});

const perTask = () => marketplace.listing('per_query').id;
const isRented = async ({ client }: Participant) => (await client.verifyCredential(perTask())).valid;

async function walletFile({ wallet }: Participant): Promise<string> {
  const path = join(folder, `${wallet.publicKey.toBase58()}.json`);
  await writeFile(path, JSON.stringify([...wallet.secretKey]), { mode: 0o600 });
  return path;
}

test('the service says to everybody which chain and program it uses [TXN-22]', async () => {
  const connection = new Connection(marketplace.dev.rpc_url);
  const { status, body } = await call(marketplace, 'GET', '/v1/network');
  expect(status).toBe(200);
  expect(body).toEqual({
    network: 'localnet',
    program_id: OTHER,
    genesis_hash: await connection.getGenesisHash(),
    rpc_url: marketplace.dev.rpc_url,
    protocol_account: findProtocolAddress(new PublicKey(OTHER)).address.toBase58(),
    payment_recipient: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{43,44}$/) as string,
    fee_bps: 250,
    min_query_price_lamports: 200_000,
    unserved_tools: [],
  });
});

describe('of a marketplace under another program', () => {
  test('the sdk pays once it is set up for that program, whatever the service says of itself [TXN-22]', async () => {
    const renter = await newParticipant(marketplace);
    const { client, signer } = renter;
    expect((await client.getNetwork()).program_id).toBe(OTHER);
    const terms = { deposit_lamports: 10_000_000 };
    await expect(rent(client, signer, perTask(), terms)).rejects.toThrow(REFUSAL);
    expect(await isRented(renter)).toBe(false);

    const baseUrl = marketplace.dev.base_url;
    await rent(createClient({ baseUrl, signer, programId: OTHER }), signer, perTask(), terms);
    expect(await isRented(renter)).toBe(true);
    expect(() => createClient({ baseUrl, signer, programId: 'mine' })).toThrow(
      /programId is not the address/,
    );
  });

  test('a wallet that needs no service says which option is missing [TXN-22]', async () => {
    const { signer } = await newParticipant(marketplace);
    const connection = new Connection(marketplace.dev.rpc_url, 'confirmed');
    const direct = createMarketplaceWallet({ connection, signer });
    await expect(direct.rent(perTask())).rejects.toThrow(/programId/);
    await createMarketplaceWallet({ connection, signer, programId: OTHER }).rent(perTask());
  });

  test('the command line pays with AGENT_RENTAL_PROGRAM_ID, and not without [TXN-22]', async () => {
    const renter = await newParticipant(marketplace);
    const wallet = await walletFile(renter);
    const cli = (env: Record<string, string>) =>
      promisify(execFile)(
        process.execPath,
        [CLI, 'rent', perTask(), '--deposit', '0.01', '--yes', '--wallet', wallet],
        { cwd: folder, env: { AGENT_RENTAL_URL: marketplace.dev.base_url, ...env } },
      );
    await expect(cli({})).rejects.toThrow(REFUSAL);
    await expect(cli({ AGENT_RENTAL_PROGRAM_ID: 'mine' })).rejects.toThrow(/AGENT_RENTAL_PROGRAM_ID is not/);
    expect(await isRented(renter)).toBe(false);
    expect((await cli({ AGENT_RENTAL_PROGRAM_ID: OTHER })).stdout).toContain(`Rented ${perTask()}`);
    expect(await isRented(renter)).toBe(true);
  });

  test('an MCP server with a wallet pays with AGENT_RENTAL_PROGRAM_ID, and not without [TXN-22]', async () => {
    const renter = await newParticipant(marketplace);
    const wallet = await walletFile(renter);
    const rentOver = async (env: Record<string, string>) => {
      const client = new Client({ name: 'stock', version: '1.0.0' });
      await client.connect(
        new StdioClientTransport({
          command: process.execPath,
          args: [MCP],
          env: {
            AGENT_RENTAL_URL: marketplace.dev.base_url,
            AGENT_RENTAL_WALLET: wallet,
            AGENT_RENTAL_MAX_DAY_SOL: '0.1',
            AGENT_RENTAL_SPENDING_DIR: join(folder, 'spending'),
            ...env,
          },
        }),
      );
      const answer = await client.callTool({ name: 'rent_listing', arguments: { agent_id: perTask() } });
      await client.close();
      return answer;
    };
    const refused = await rentOver({});
    expect(refused.isError).toBe(true);
    expect(JSON.stringify(refused.content)).toMatch(REFUSAL);
    expect(await isRented(renter)).toBe(false);
    expect(await rentOver({ AGENT_RENTAL_PROGRAM_ID: OTHER })).toMatchObject({
      structuredContent: { rented: true },
    });
    expect(await isRented(renter)).toBe(true);
  });

  test("LangChain's tools pay with the client's program, and not without [TXN-22]", async () => {
    const renter = await newParticipant(marketplace);
    const { signer } = renter;
    const baseUrl = marketplace.dev.base_url;
    const rentBy = async (programId: string | undefined) => {
      const tools = await rentedTools(createClient({ baseUrl, signer, programId }), {
        wallet: payingWallet(signer),
        policy: { maxDayLamports: 100_000_000n },
      });
      const tool = tools.find(({ name }) => name === 'rent_listing');
      const message: unknown = await tool?.invoke({
        type: 'tool_call',
        id: `call ${programId}`,
        name: 'rent_listing',
        args: { agent_id: perTask() },
      });
      return JSON.stringify(message);
    };
    expect(await rentBy(undefined)).toMatch(REFUSAL);
    expect(await isRented(renter)).toBe(false);
    await rentBy(OTHER);
    expect(await isRented(renter)).toBe(true);
  });

  test.runIf(browserPath !== undefined)(
    'the page of a rental pays the program of its marketplace [TXN-22]',
    async () => {
      const renter = await newParticipant(marketplace);
      const browser = await openBrowser();
      try {
        const page = await (await browser.newContext()).newPage();
        await addTestWallet(page, renter.wallet, 'solana:localnet');
        await page.goto(new URL(`/dashboard/rent/${perTask()}`, marketplace.dev.base_url).href);
        await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
        await expect
          .poll(() => page.getByRole('status').textContent(), { timeout: 30_000 })
          .toMatch(/^Done: /);
      } finally {
        await browser.close();
      }
      expect(await isRented(renter)).toBe(true);
    },
  );
});
