import {
  address,
  type Address,
  appendTransactionMessageInstructions,
  assertIsTransactionWithBlockhashLifetime,
  compileTransaction,
  createKeyPairSignerFromBytes,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  type Instruction,
  isSolanaError,
  type KeyPairSigner,
  pipe,
  type Rpc,
  type RpcSubscriptions,
  sendAndConfirmTransactionFactory,
  setTransactionMessageFeePayer,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
  SOLANA_ERROR__INSTRUCTION_ERROR__CUSTOM,
  type SolanaRpcApi,
  type SolanaRpcSubscriptionsApi,
} from '@solana/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localChain } from './chains/local-chain.js';
import { type CodamaClient, generateCodamaClient } from './codama-client.js';
import { DEPOSIT, Market, PRICE } from './market.js';

// On the embedded chain alone: this client confirms over the websocket. Surfnet says nothing there of a signature that
// landed before it was subscribed to.
describe('@solana/kit, with a client that Codama generates from the IDL', () => {
  let market: Market;
  let client: CodamaClient;
  let rpc: Rpc<SolanaRpcApi>;
  let rpcSubscriptions: RpcSubscriptions<SolanaRpcSubscriptionsApi>;
  let buyer: KeyPairSigner;
  let treasury: Address;

  beforeAll(async () => {
    [market, client] = await Promise.all([Market.start(localChain), generateCodamaClient()]);
    rpc = createSolanaRpc(market.chain.rpcUrl);
    rpcSubscriptions = createSolanaRpcSubscriptions(market.chain.wsUrl);
    buyer = await createKeyPairSignerFromBytes(market.buyer.secretKey);
    treasury = (await client.fetchProtocol(rpc, (await client.findProtocolPda())[0])).data.treasury;
  });
  afterAll(() => market.close());

  async function message(instruction: Instruction) {
    const { value: latestBlockhash } = await rpc.getLatestBlockhash().send();
    return pipe(
      createTransactionMessage({ version: 0 }),
      (draft) => setTransactionMessageFeePayerSigner(buyer, draft),
      (draft) => setTransactionMessageLifetimeUsingBlockhash(latestBlockhash, draft),
      (draft) => appendTransactionMessageInstructions([instruction], draft),
    );
  }

  async function send(instruction: Instruction): Promise<void> {
    const transaction = await signTransactionMessageWithSigners(await message(instruction));
    assertIsTransactionWithBlockhashLifetime(transaction);
    await sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions })(transaction, {
      commitment: 'confirmed',
    });
  }

  it('rents an agent and reads the credential [PRG-3, PRG-12]', async () => {
    const listingId = await market.list('kit-agent', 'one_time');
    const [listing] = await client.findListingPda({ listingId });
    expect(listing).toBe(market.addresses(listingId).listing.toBase58());
    const { data } = await client.fetchListing(rpc, listing);
    expect(data).toMatchObject({ listingId, priceLamports: PRICE, rentalModel: client.RentalModel.OneTime });

    await send(
      await client.getPurchaseOneTimeInstructionAsync({
        buyer,
        listing,
        treasury,
        maxPriceLamports: data.priceLamports,
      }),
    );
    const [credential] = await client.findAccessCredentialPda({ buyer: buyer.address, listing });
    expect((await client.fetchAccessCredential(rpc, credential)).data).toMatchObject({
      buyer: buyer.address,
      listing,
      valid: true,
      rentalModel: client.RentalModel.OneTime,
    });
  });

  it('prepays a balance', async () => {
    const listingId = await market.list('kit-per-query-agent', 'per_query');
    const [listing] = await client.findListingPda({ listingId });
    await send(
      await client.getPurchasePerQueryInstructionAsync({
        buyer,
        listing,
        depositLamports: DEPOSIT,
        maxPriceLamports: PRICE,
      }),
    );
    const [balance] = await client.findPerQueryBalancePda({ buyer: buyer.address, listing });
    expect((await client.fetchPerQueryBalance(rpc, balance)).data).toMatchObject({
      balanceLamports: DEPOSIT,
      maxPriceLamports: PRICE,
    });
  });

  it('verifies access by simulation, unsigned [PRG-5]', async () => {
    const listingId = await market.prepaid('kit-verified-agent');
    const verify = async (wallet: Address): Promise<string | undefined> => {
      const instruction = await client.getVerifyAccessInstructionAsync({ buyer: wallet, listingId });
      const unsigned = setTransactionMessageFeePayer(treasury, await message(instruction));
      const { value } = await rpc
        .simulateTransaction(getBase64EncodedWireTransaction(compileTransaction(unsigned)), {
          encoding: 'base64',
          sigVerify: false,
          replaceRecentBlockhash: true,
        })
        .send();
      return value.returnData?.data[0];
    };
    expect(await verify(buyer.address)).toBe(Buffer.from([1]).toString('base64'));
    expect(await verify(treasury)).toBe(Buffer.from([0]).toString('base64'));
  });

  it('finds the program’s error in the cause of a refused transaction', async () => {
    const listingId = await market.list('kit-dear-agent', 'one_time');
    const instruction = await client.getPurchaseOneTimeInstructionAsync({
      buyer,
      listing: address(market.addresses(listingId).listing.toBase58()),
      treasury,
      maxPriceLamports: PRICE - 1n,
    });
    const failure = await send(instruction).catch((error: unknown) => error);
    const { cause } = failure as Error;
    expect(isSolanaError(cause, SOLANA_ERROR__INSTRUCTION_ERROR__CUSTOM)).toBe(true);
    expect(cause).toMatchObject({ context: { code: 6101 } });
    const sent = { instructions: { 0: instruction } };
    expect(client.isMarketplaceError(cause, sent, client.MARKETPLACE_ERROR__PRICE_ABOVE_LIMIT)).toBe(true);
  });
});
