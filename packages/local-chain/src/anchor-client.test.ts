import { AnchorProvider, Program, Wallet, type Idl } from '@anchor-lang/core';
import { Keypair, LAMPORTS_PER_SOL, PublicKey, SystemProgram } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, type ChainFixture } from './testing/chain-fixture.js';

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const MINT_BYTES = 82;

/** The SPL Token program as an Anchor IDL: an IDL may give discriminators of any length. */
const TOKEN_IDL: Idl = {
  address: TOKEN_PROGRAM,
  metadata: { name: 'token', version: '0.1.0', spec: '0.1.0' },
  instructions: [
    {
      name: 'initializeMint2',
      discriminator: [20],
      accounts: [{ name: 'mint', writable: true }],
      args: [
        { name: 'decimals', type: 'u8' },
        { name: 'mintAuthority', type: 'pubkey' },
        { name: 'freezeAuthority', type: { option: 'pubkey' } },
      ],
    },
    {
      name: 'getAccountDataSize',
      discriminator: [21],
      accounts: [{ name: 'mint' }],
      args: [],
      returns: 'u64',
    },
  ],
};

describe('an Anchor Program', () => {
  let fixture: ChainFixture;
  let program: Program;
  let payer: Keypair;
  let mint: Keypair;

  beforeAll(async () => {
    fixture = await startFixture();
    payer = await fixture.fundedWallet(LAMPORTS_PER_SOL);
    const provider = new AnchorProvider(fixture.connection, new Wallet(payer), { commitment: 'confirmed' });
    program = new Program(TOKEN_IDL, provider);
    mint = Keypair.generate();
  });
  afterAll(() => fixture.stop());

  it('sends an instruction and confirms it', async () => {
    const create = SystemProgram.createAccount({
      fromPubkey: payer.publicKey,
      newAccountPubkey: mint.publicKey,
      lamports: await fixture.connection.getMinimumBalanceForRentExemption(MINT_BYTES),
      space: MINT_BYTES,
      programId: new PublicKey(TOKEN_PROGRAM),
    });
    const signature = await program.methods['initializeMint2']?.(6, payer.publicKey, null)
      .accounts({ mint: mint.publicKey })
      .preInstructions([create])
      .signers([mint])
      .rpc();
    const { value } = await fixture.connection.getSignatureStatus(signature ?? '');
    expect(value).toMatchObject({ err: null, confirmationStatus: 'confirmed' });
    const account = await fixture.connection.getAccountInfo(mint.publicKey);
    expect(account?.data[44]).toBe(6);
  });

  it('views return data', async () => {
    const size: unknown = await program.methods['getAccountDataSize']?.()
      .accounts({ mint: mint.publicKey })
      .view();
    expect(String(size)).toBe('165');
  });

  it('is given the logs of a failed instruction', async () => {
    const again = program.methods['initializeMint2']?.(9, payer.publicKey, null)
      .accounts({ mint: mint.publicKey })
      .rpc();
    await expect(again).rejects.toMatchObject({
      logs: expect.arrayContaining([expect.stringContaining('failed: custom program error: 0x6')]),
    });
  });
});
