import { fileURLToPath } from 'node:url';
import { Keypair } from '@solana/web3.js';
import { describe, expect, inject, it } from 'vitest';
import { attach } from '../support/marketplace.js';
import { callChain, usdcOf } from '../support/pay-per-call/x402-client.js';
import { pythonInFullForm, runPython } from '../support/toolchains/python-environment.js';

const PROGRAMS = fileURLToPath(new URL('../../pay-per-call', import.meta.url));
const python = await pythonInFullForm(`${PROGRAMS}/requirements.txt`);
if ('missing' in python) process.stderr.write(`Python's x402 was NOT RUN: ${python.missing}\n`);

describe.runIf('python' in python)("Python's x402", () => {
  it('gets an answer for USDC, from a wallet without an account and without SOL', async () => {
    if (!('python' in python)) throw new Error(python.missing);
    const { dev, request } = await attach(inject('stateDir'));
    const wallet = Keypair.generate();
    const address = wallet.publicKey.toBase58();
    await callChain(dev.rpc_url, 'localchain_airdropUsdc', address, 20_000_000);
    const answer = (await runPython(python.python, `${PROGRAMS}/payer.py`, {
      secret_key: [...wallet.secretKey],
      rpc_url: dev.rpc_url,
      url: `${dev.base_url}/v1/execute`,
      body: await request('per_query'),
    })) as { status: number; run: unknown; receipt: { amount: string } };
    expect(answer).toMatchObject({
      status: 200,
      run: { status: 'completed' },
      receipt: { success: true, payer: address },
    });
    expect(await usdcOf(dev.rpc_url, address)).toBe(20_000_000n - BigInt(answer.receipt.amount));
  });
});
