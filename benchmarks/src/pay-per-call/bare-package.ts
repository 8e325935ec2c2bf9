import { randomBytes } from 'node:crypto';
import { loadMppServer } from '@agent-rental/test/support/pay-per-call/mpp-packages';
import { paymentChallenge, paymentCredential, signPayment } from '@agent-rental/test/support/payments';
import type { Keypair } from '@solana/web3.js';

/** A payment that its payer has signed, ready to be settled by the bare package. */
export interface BarePayment {
  /** Settles as `@solana/mpp` does: checks, simulates, sends, waits for the confirmation and reads what landed. */
  settle(): Promise<void>;
}

/**
 * Makes the published server of MPP, alone and in this process.
 *
 * @param recipient the address that is paid
 * @returns asks for lamports, and signs the payment for a wallet
 */
export async function openBarePackage({ rpcUrl, recipient }: { rpcUrl: string; recipient: string }) {
  const { Mppx, charge } = await loadMppServer();
  const mppx = Mppx.create({
    methods: [charge({ recipient, currency: 'sol', network: 'localnet', rpcUrl })],
    secretKey: randomBytes(32).toString('hex'),
    realm: 'bare.example',
  });
  return async (lamports: bigint, wallet: Keypair): Promise<BarePayment> => {
    const externalId = randomBytes(16).toString('base64url');
    const handle = mppx.charge({ amount: String(lamports), currency: 'sol', externalId });
    const send = (headers: Record<string, string> = {}) =>
      handle(new Request('http://bare.example/v1/execute', { method: 'POST', headers }));
    const asked = await send();
    if (asked.status !== 402) throw new Error('The bare package asks for no payment.');
    const challenge = paymentChallenge(asked.challenge.headers);
    const authorization = paymentCredential(challenge, signPayment(challenge, wallet));
    return {
      async settle() {
        const settled = await send({ authorization });
        if (settled.status !== 200) throw new Error(await settled.challenge.text());
        settled.withReceipt(Response.json({}));
      },
    };
  };
}
