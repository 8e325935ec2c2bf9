import { Keypair, LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, type ChainFixture, type RpcAnswer } from '../testing/chain-fixture.js';
import { base64, MEMO_PROGRAM, memo, signed, transfer } from '../testing/transactions.js';

const SYSTEM = PublicKey.default.toBase58();
const LOADER = 'BPFLoaderUpgradeab1e11111111111111111111111';
const CLOCK = 'SysvarC1ock11111111111111111111111111111111';

describe('JSON-RPC over HTTP', () => {
  let fixture: ChainFixture;
  let alice: Keypair;

  beforeAll(async () => {
    fixture = await startFixture();
    alice = await fixture.fundedWallet(10 * LAMPORTS_PER_SOL);
  });
  afterAll(() => fixture.stop());

  const BASE64 = { encoding: 'base64' };
  const makeTransaction = async (payer: Keypair, ...instructions: ReturnType<typeof memo>[]) => {
    const { blockhash } = await fixture.connection.getLatestBlockhash();
    return signed(payer, blockhash, instructions);
  };
  const postJson = async (body: unknown): Promise<unknown> => {
    const { text } = await fixture.post(JSON.stringify(body));
    return text === '' ? null : JSON.parse(text);
  };

  it.each([
    ['not JSON', '{"jsonrpc":', -32700],
    ['not a request', '{"jsonrpc":"2.0"}', -32600],
    ['another version', '{"jsonrpc":"1.0","id":1,"method":"getSlot"}', -32600],
    ['an empty batch', '[]', -32600],
    ['a batch beyond the bound', JSON.stringify(Array.from({ length: 257 }, () => ({}))), -32600],
    ['an unknown method', '{"jsonrpc":"2.0","id":1,"method":"getNothing"}', -32601],
    ['a method of every object', '{"jsonrpc":"2.0","id":1,"method":"constructor"}', -32601],
    ['a test hook that was not asked for', '{"jsonrpc":"2.0","id":1,"method":"localchain_warp"}', -32601],
    ['named params', '{"jsonrpc":"2.0","id":1,"method":"getBalance","params":{"pubkey":"x"}}', -32602],
  ])('answers %s with the standard error', async (_, body, code) => {
    const { status, text } = await fixture.post(body);
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0', error: { code } });
  });

  it.each([
    ['getBalance', []],
    ['getBalance', ['not base58!']],
    ['getBalance', ['1'.repeat(31)]],
    ['getBalance', [SYSTEM, { commitment: 'soon' }]],
    ['getBalance', [SYSTEM, {}, 'too many']],
    ['getAccountInfo', [SYSTEM, { encoding: 'hex' }]],
    ['getAccountInfo', [SYSTEM, { dataSlice: { offset: -1, length: 1 } }]],
    ['getMultipleAccounts', [Array.from({ length: 101 }, () => SYSTEM)]],
    ['getProgramAccounts', [SYSTEM, { filters: [{ memcmp: { offset: 0, bytes: '0' } }] }]],
    ['getProgramAccounts', [SYSTEM, { filters: Array.from({ length: 5 }, () => ({ dataSize: 1 })) }]],
    ['getSignatureStatuses', [Array.from({ length: 257 }, () => bs58.encode(Buffer.alloc(64)))]],
    ['getTransaction', [SYSTEM]],
    ['getTransaction', [bs58.encode(Buffer.alloc(64)), { commitment: 'processed' }]],
    ['getSignaturesForAddress', [SYSTEM, { limit: 1_001 }]],
    ['getBlock', ['first']],
    ['getBlock', [0, { transactionDetails: 'some' }]],
    ['getBlock', [0, { commitment: 'processed' }]],
    ['getBlocks', [-1]],
    ['getBlocksWithLimit', [0, 500_001]],
    ['getMinimumBalanceForRentExemption', [10 ** 9]],
    ['requestAirdrop', [SYSTEM, 10 ** 15]],
    ['requestAirdrop', [SYSTEM, 1.5]],
    ['sendTransaction', ['AAAA', { encoding: 'base64' }]],
    ['sendTransaction', ['A'.repeat(2_000), { encoding: 'base64' }]],
    ['sendTransaction', ['not/base58']],
    ['simulateTransaction', ['', { sigVerify: true, replaceRecentBlockhash: true }]],
    ['getFeeForMessage', ['AAAA']],
    ['isBlockhashValid', ['short']],
  ])('refuses bad params of %s: %j', async (method, params) => {
    const answer = await fixture.rpc(method, ...params);
    expect(answer.error?.code).toBe(-32602);
    expect(answer.error?.message).not.toBe('');
  });

  it('answers batches in order and leaves notifications unanswered', async () => {
    const call = (id: unknown, method: string): object => ({ jsonrpc: '2.0', id, method, params: [] });
    expect(
      await postJson([call('a', 'getHealth'), { jsonrpc: '2.0', method: 'getSlot' }, call(2, 'no'), 5]),
    ).toEqual([
      { jsonrpc: '2.0', id: 'a', result: 'ok' },
      { jsonrpc: '2.0', id: 2, error: { code: -32601, message: 'Method not found' } },
      { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Invalid request' } },
    ]);
    expect(await postJson({ jsonrpc: '2.0', method: 'getSlot' })).toBeNull();
  });

  it('bounds the answers of a batch together', async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'getProgramAccounts', params: [LOADER, BASE64] };
    const answers = (await postJson(Array.from({ length: 256 }, () => call))) as RpcAnswer[];
    expect(answers).toHaveLength(256);
    expect(answers[0]?.error).toBeUndefined();
    expect(answers.at(-1)?.error?.code).toBe(-32600);
  });

  it('refuses large bodies and other verbs, and lets browsers of any origin in', async () => {
    const large = await fixture.post(' '.repeat(1024 * 1024 + 1));
    expect(large.status).toBe(413);
    const get = await fetch(fixture.chain.rpcUrl);
    expect([get.status, await get.text()]).toEqual([405, expect.stringContaining('POST')]);
    const health = await fetch(`${fixture.chain.rpcUrl}/health`);
    expect(await health.text()).toBe('ok');
    const preflight = await fetch(fixture.chain.rpcUrl, { method: 'OPTIONS' });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-headers')).toBe('*');
  });

  it('answers a failed preflight with error -32002 and the simulation', async () => {
    const before = await fixture.connection.getBalance(alice.publicKey);
    const bob = Keypair.generate().publicKey;
    const tooMuch = await makeTransaction(alice, transfer(alice.publicKey, bob, 10 ** 15));
    const answer = await fixture.rpc('sendTransaction', base64(tooMuch), BASE64);
    expect(await fixture.connection.getBalance(alice.publicKey)).toBe(before);
    expect(answer.error).toMatchObject({
      code: -32002,
      message: 'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1',
      data: {
        err: { InstructionError: [0, { Custom: 1 }] },
        logs: expect.arrayContaining([expect.stringContaining('failed: custom program error: 0x1')]),
        unitsConsumed: 150,
        loadedAccountsDataSize: expect.any(Number),
        fee: 5_000,
        returnData: null,
        accounts: null,
        preBalances: null,
        postBalances: null,
        loadedAddresses: null,
      },
    });
  });

  it('tells the loaded bytes, the fee and the balance changes of a simulation', async () => {
    const bob = Keypair.generate().publicKey;
    const simulate = async (payer: Keypair, instruction: ReturnType<typeof memo>): Promise<unknown> => {
      const transaction = base64(await makeTransaction(payer, instruction));
      const { result } = await fixture.rpc('simulateTransaction', transaction, BASE64);
      return (result as { value: unknown }).value;
    };
    const lamports = await fixture.connection.getBalance(alice.publicKey);
    const systemBytes = (await fixture.connection.getAccountInfo(PublicKey.default))?.data.length ?? 0;
    expect(await simulate(alice, transfer(alice.publicKey, bob, 2_000_000))).toMatchObject({
      err: null,
      fee: 5_000,
      // The payer and the System program; there is no account at bob's address yet.
      loadedAccountsDataSize: 64 + 64 + systemBytes,
      preBalances: [lamports, 0, expect.any(Number)],
      postBalances: [lamports - 2_005_000, 2_000_000, expect.any(Number)],
      preTokenBalances: [],
      postTokenBalances: [],
      loadedAddresses: { writable: [], readonly: [] },
    });
    // A failed transaction still pays.
    expect(await simulate(alice, transfer(alice.publicKey, bob, 10 ** 15))).toMatchObject({
      err: { InstructionError: [0, { Custom: 1 }] },
      fee: 5_000,
      postBalances: [lamports - 5_000, 0, expect.any(Number)],
    });
    // A transaction that is refused before it runs has no price.
    expect(await simulate(Keypair.generate(), memo('hello'))).toMatchObject({
      err: 'AccountNotFound',
      fee: null,
      loadedAccountsDataSize: 0,
      preBalances: null,
      postBalances: null,
    });
  });

  it('answers bad signatures with -32003 and unfunded payers with the account error', async () => {
    const forged = await makeTransaction(alice, memo('forged'));
    forged.signatures[0]?.set([1, 2, 3], 10);
    const answer = await fixture.rpc('sendTransaction', base64(forged), BASE64);
    expect(answer.error).toMatchObject({
      code: -32003,
      message: 'Transaction signature verification failure',
    });

    const unfunded = await makeTransaction(Keypair.generate(), memo('hello'));
    const refused = await fixture.rpc('sendTransaction', base64(unfunded), BASE64);
    expect(refused.error).toMatchObject({ code: -32002, data: { err: 'AccountNotFound', logs: [] } });

    // Without a preflight there is no error, and nothing lands.
    const skipped = await fixture.rpc('sendTransaction', base64(forged), { ...BASE64, skipPreflight: true });
    const signature = bs58.encode(forged.signatures[0] ?? new Uint8Array());
    expect(skipped.result).toBe(signature);
    const status = await fixture.rpc('getSignatureStatuses', [signature], { searchTransactionHistory: true });
    expect(status.result).toMatchObject({ value: [null] });
  });

  it('keeps minContextSlot', async () => {
    const future = await fixture.rpc('getBalance', SYSTEM, { minContextSlot: 10 ** 9 });
    expect(future.error).toMatchObject({ code: -32016, data: { contextSlot: expect.any(Number) } });
    expect((await fixture.rpc('getBalance', SYSTEM, { minContextSlot: 1 })).error).toBeUndefined();
  });

  it('writes account data in every encoding', async () => {
    const data = async (encoding: string | undefined, dataSlice?: object): Promise<unknown> => {
      const view = { encoding, dataSlice, commitment: 'confirmed' };
      const { result } = await fixture.rpc('getAccountInfo', CLOCK, view);
      return (result as { value: { data: unknown } }).value.data;
    };
    const slice = { offset: 24, length: 8 };
    const epoch = Buffer.from('0100000000000000', 'hex');
    expect(await data('base64', slice)).toEqual([epoch.toString('base64'), 'base64']);
    expect(await data('base58', slice)).toEqual([bs58.encode(epoch), 'base58']);
    expect(await data(undefined, slice)).toBe(bs58.encode(epoch));
    expect(await data('jsonParsed', slice)).toEqual([epoch.toString('base64'), 'base64']);
    expect(await data('base64', { offset: 1_000, length: 8 })).toEqual(['', 'base64']);
    const [frame] = (await data('base64+zstd', slice)) as [string];
    expect(Buffer.from(frame, 'base64').toString('hex')).toBe(
      `28b52ffda008000000410000${epoch.toString('hex')}`,
    );

    const memoProgram = await fixture.rpc('getAccountInfo', MEMO_PROGRAM.toBase58(), { encoding: 'base58' });
    expect(memoProgram.error?.code).toBe(-32600);
  });

  it('writes integers beyond 2^53 exactly', async () => {
    const { text } = await fixture.post(
      `{"jsonrpc":"2.0","id":1,"method":"getAccountInfo","params":["${CLOCK}",{"encoding":"base64"}]}`,
    );
    expect(text).toContain('"rentEpoch":18446744073709551615,');
  });

  it('tells about itself', async () => {
    const { result: version } = await fixture.rpc('getVersion');
    expect(version).toMatchObject({ 'solana-core': expect.stringMatching(/^\d+\.\d+\.\d+$/u) });
    const { result: epoch } = await fixture.rpc('getEpochInfo', { commitment: 'processed' });
    expect(epoch).toMatchObject({ slotsInEpoch: 432_000, epoch: 0, absoluteSlot: expect.any(Number) });
    const { result: genesis } = await fixture.rpc('getGenesisHash');
    expect(bs58.decode(String(genesis))).toHaveLength(32);
    const { result: fees } = await fixture.rpc('getRecentPrioritizationFees', []);
    expect(fees).toHaveLength(150);
    const { result: tokens } = await fixture.rpc(
      'getTokenAccountsByOwner',
      alice.publicKey.toBase58(),
      { programId: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' },
      { encoding: 'jsonParsed' },
    );
    expect(tokens).toMatchObject({ value: [] });
    expect((await fixture.rpc('getBlockTime', 10 ** 12)).error?.code).toBe(-32004);
  });

  it('pages through the signatures of an address', async () => {
    const target = Keypair.generate().publicKey;
    const sent: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      const transaction = await makeTransaction(alice, transfer(alice.publicKey, target, 1_000_000 + index));
      sent.unshift(await fixture.connection.sendTransaction(transaction));
    }
    const page = async (config: object): Promise<string[]> => {
      const options = { commitment: 'confirmed', ...config };
      const { result } = await fixture.rpc('getSignaturesForAddress', target.toBase58(), options);
      return (result as { signature: string }[]).map(({ signature }) => signature);
    };
    expect(await page({})).toEqual(sent);
    expect(await page({ limit: 2 })).toEqual(sent.slice(0, 2));
    expect(await page({ before: sent[1], limit: 2 })).toEqual(sent.slice(2, 4));
    expect(await page({ until: sent[3] })).toEqual(sent.slice(0, 3));
    expect(await page({ before: bs58.encode(Buffer.alloc(64, 1)) })).toEqual([]);
    expect(await page({ commitment: 'finalized' })).toEqual([]);
  });
});

// Linux alone has all of 127.0.0.0/8 from the start.
describe.runIf(process.platform === 'linux')('another address of this machine', () => {
  const OTHER_ADDRESS = '127.0.0.2';

  it.each([
    [{}, false],
    [{ host: '0.0.0.0' }, true],
  ] as const)('is answered on with the options %j: %s', async (options, isAnswered) => {
    const { chain, stop } = await startFixture(options);
    const { port } = new URL(chain.rpcUrl);
    const answer = await fetch(`http://${OTHER_ADDRESS}:${port}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    await stop();
    expect(answer).toBe(isAnswered);
  });
});
