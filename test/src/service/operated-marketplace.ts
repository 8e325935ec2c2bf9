import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@agent-rental/sdk';
import { decideAsOperator, keypairSigner } from '@agent-rental/sdk/solana';
import { Keypair } from '@solana/web3.js';
import { jobEnd, textAgent } from '../support/agents/agents.js';
import { startModelStandIn, type ModelStandIn } from '../support/agents/model-stand-in.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
  withoutExamples,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

/** A marketplace whose operators review each agent. */
export interface OperatedMarketplace {
  readonly model: ModelStandIn;
  readonly marketplace: OwnMarketplace;
  readonly creator: Participant;
  readonly operator: Participant;
  /** An operator, and the program's admin. */
  readonly admin: Participant;
  /** Registers an agent of the creator, which waits for a review. */
  register(): Promise<{ id: string; jobId: string }>;
  /** Publishes an agent, which the operator approves. @returns its id */
  publish(seller: Participant): Promise<string>;
  close(): Promise<void>;
}

/** Starts a marketplace with an operator and an admin. */
export async function startOperatedMarketplace(): Promise<OperatedMarketplace> {
  const [keypair, adminKeypair] = [Keypair.generate(), Keypair.generate()];
  const model = await startModelStandIn();
  const stateDir = await newStateDir();
  await mkdir(join(stateDir, 'keys'), { recursive: true, mode: 0o700 });
  const secret = JSON.stringify([...adminKeypair.secretKey]);
  await writeFile(join(stateDir, 'keys', 'admin.json'), secret, { mode: 0o600 });
  const marketplace = await startMarketplace(stateDir, {
    ...withoutExamples(model.baseUrl),
    REVIEW: 'operator',
    OPERATOR_WALLETS: [keypair, adminKeypair].map(({ publicKey }) => publicKey.toBase58()).join(),
  });
  const participantOf = (wallet: Keypair): Participant => {
    const signer = keypairSigner(wallet);
    const client = createClient({ baseUrl: marketplace.dev.base_url, signer, retries: 0 });
    return { wallet, token: '', signer, client };
  };
  const [operator, admin] = [participantOf(keypair), participantOf(adminKeypair)];
  const creator = await newParticipant(marketplace);
  const register = async ({ client } = creator) => {
    const { job_id: jobId } = await client.registerAgent(textAgent(model.baseUrl));
    return { jobId, id: (await jobEnd(client, jobId)).result?.listing_id ?? '' };
  };
  return {
    model,
    marketplace,
    creator,
    operator,
    admin,
    register: () => register(),
    publish: async (seller) => {
      const { id } = await register(seller);
      await decideAsOperator(operator.client, operator.signer, {
        action: 'approve',
        listing_id: id,
        version: 1,
      });
      const { transaction } = await seller.client.createTransaction({ action: 'publish', listing_id: id });
      const signed = await seller.signer.signTransaction(Buffer.from(transaction, 'base64'));
      await seller.client.submitTransaction(Buffer.from(signed).toString('base64'));
      return id;
    },
    close: async () => {
      await model.close();
      await marketplace.stop();
      await removeStateDir(stateDir);
    },
  };
}
