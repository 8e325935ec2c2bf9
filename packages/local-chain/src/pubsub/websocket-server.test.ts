import { Keypair, LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startFixture, type ChainFixture } from '../testing/chain-fixture.js';
import { MEMO_PROGRAM, memo, signed, transfer } from '../testing/transactions.js';

interface Message {
  id?: number;
  result?: unknown;
  error?: { code: number };
  method?: string;
  params?: { subscription: number; result: unknown };
}

/** A raw websocket client that keeps the received messages in order. */
class Client {
  readonly #socket: WebSocket;
  readonly #received: Message[] = [];
  #wake: () => void = () => undefined;

  constructor(url: string) {
    this.#socket = new WebSocket(url);
    this.#socket.on('message', (data: Buffer) => {
      this.#received.push(JSON.parse(data.toString('utf8')) as Message);
      this.#wake();
    });
  }

  async open(): Promise<this> {
    await new Promise((resolve) => this.#socket.once('open', resolve));
    return this;
  }

  send(text: string): void {
    this.#socket.send(text);
  }

  async call(method: string, ...params: unknown[]): Promise<Message> {
    this.send(JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }));
    return this.next();
  }

  /** The next message, in order of arrival. */
  async next(): Promise<Message> {
    for (;;) {
      const message = this.#received.shift();
      if (message !== undefined) return message;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  close(): void {
    this.#socket.terminate();
  }
}

describe('subscriptions over the websocket', () => {
  let fixture: ChainFixture;
  let alice: Keypair;
  let client: Client;
  const confirmed = { commitment: 'confirmed' };

  beforeAll(async () => {
    // Long slots: none passes by itself while a test waits for its messages.
    fixture = await startFixture({ testHooks: true, slotTimeMs: 60_000 });
    alice = await fixture.fundedWallet(10 * LAMPORTS_PER_SOL);
    client = await new Client(fixture.chain.wsUrl).open();
  });
  afterAll(async () => {
    client.close();
    await fixture.stop();
  });

  const send = async (...instructions: ReturnType<typeof memo>[]): Promise<string> => {
    const { blockhash } = await fixture.connection.getLatestBlockhash();
    const transaction = signed(alice, blockhash, instructions);
    return fixture.connection.sendTransaction(transaction, { skipPreflight: true });
  };

  it('also listens on the RPC port itself', async () => {
    const other = await new Client(fixture.chain.rpcUrl.replace('http', 'ws')).open();
    const { result } = await other.call('slotSubscribe');
    expect(result).toEqual(expect.any(Number));
    other.close();
  });

  it('notifies of a signature once, also of an earlier confirmed one', async () => {
    const signature = await send(memo('early'));
    const { result: subscription } = await client.call('signatureSubscribe', signature, confirmed);
    expect(await client.next()).toMatchObject({
      method: 'signatureNotification',
      params: { subscription, result: { context: { slot: expect.any(Number) }, value: { err: null } } },
    });
    // It has ended by itself.
    expect((await client.call('signatureUnsubscribe', subscription)).error?.code).toBe(-32602);
  });

  it('tells of a failed transaction with its error', async () => {
    const signature = await send(transfer(alice.publicKey, Keypair.generate().publicKey, 10 ** 15));
    await client.call('signatureSubscribe', signature, confirmed);
    expect((await client.next()).params?.result).toMatchObject({
      value: { err: { InstructionError: [0, { Custom: 1 }] } },
    });
  });

  it('tells of accounts, programs and logs that a transaction concerns, and of no others', async () => {
    const bob = Keypair.generate().publicKey;
    const system = PublicKey.default.toBase58();
    const base64 = { ...confirmed, encoding: 'base64' };
    const oneByte = { ...confirmed, filters: [{ dataSize: 1 }] };
    const account = await client.call('accountSubscribe', bob.toBase58(), base64);
    const program = await client.call('programSubscribe', system, oneByte);
    const logs = await client.call('logsSubscribe', { mentions: [MEMO_PROGRAM.toBase58()] }, confirmed);
    await send(transfer(alice.publicKey, bob, 1_000_000));
    expect(await client.next()).toMatchObject({
      method: 'accountNotification',
      params: {
        subscription: account.result,
        result: { value: { lamports: 1_000_000, data: ['', 'base64'], owner: system } },
      },
    });
    const signature = await send(memo('logged'));
    // Neither the program's filter nor the account's address matched in between.
    expect(await client.next()).toMatchObject({
      method: 'logsNotification',
      params: { subscription: logs.result, result: { value: { signature, err: null } } },
    });
    for (const [kind, { result }] of Object.entries({ account, program, logs })) {
      expect((await client.call(`${kind}Unsubscribe`, result)).result).toBe(true);
    }
    await send(transfer(alice.publicKey, bob, 1_000_000), memo('unheard'));
    expect((await client.call('slotUnsubscribe', 1)).error?.code).toBe(-32602);
  });

  it('tells of finalized transactions when their slot is finalized, and of slots and roots', async () => {
    const bob = Keypair.generate().publicKey;
    const finalized = { commitment: 'finalized' };
    const { result: account } = await client.call('accountSubscribe', bob.toBase58(), finalized);
    await send(transfer(alice.publicKey, bob, 1_000_000));
    const { result: slots } = await client.call('slotSubscribe');
    const { result: roots } = await client.call('rootSubscribe');
    await fixture.rpc('localchain_warp', { slots: 40 });
    const slot = await client.next();
    expect(slot).toMatchObject({ method: 'slotNotification', params: { subscription: slots } });
    const root = await client.next();
    expect(root).toMatchObject({ method: 'rootNotification', params: { subscription: roots } });
    expect(slot.params?.result).toMatchObject({ root: root.params?.result });
    expect(await client.next()).toMatchObject({
      method: 'accountNotification',
      params: { subscription: account, result: { value: { lamports: 1_000_000 } } },
    });
    await client.call('slotUnsubscribe', slots);
    await client.call('rootUnsubscribe', roots);
  });

  it('answers malformed and unknown requests with an error', async () => {
    client.send('{');
    expect((await client.next()).error?.code).toBe(-32700);
    client.send('{"id":1}');
    expect((await client.next()).error?.code).toBe(-32600);
    expect((await client.call('blockSubscribe', 'all')).error?.code).toBe(-32601);
    expect((await client.call('getSlot')).error?.code).toBe(-32601);
    expect((await client.call('accountSubscribe', 'nonsense')).error?.code).toBe(-32602);
    expect((await client.call('toStringSubscribe')).error?.code).toBe(-32601);
  });

  it('bounds the subscriptions of one connection', async () => {
    const greedy = await new Client(fixture.chain.wsUrl).open();
    for (let index = 0; index < 1_000; index += 1)
      greedy.send('{"jsonrpc":"2.0","id":1,"method":"rootSubscribe"}');
    for (let index = 0; index < 1_000; index += 1) expect((await greedy.next()).error).toBeUndefined();
    expect((await greedy.call('rootSubscribe')).error?.code).toBe(-32600);
    greedy.close();
  });
});
