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
import { descendants, killRunning } from '../support/processes/processes.js';

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
  /** Kills the server and each of its processes with -9, and starts it again on its state, at its address. */
  killAndRestart(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a marketplace with an operator and an admin. It may call the given origins on this machine too. */
export async function startOperatedMarketplace(callable: string[] = []): Promise<OperatedMarketplace> {
  const [keypair, adminKeypair] = [Keypair.generate(), Keypair.generate()];
  const model = await startModelStandIn();
  const stateDir = await newStateDir();
  await mkdir(join(stateDir, 'keys'), { recursive: true, mode: 0o700 });
  const secret = JSON.stringify([...adminKeypair.secretKey]);
  await writeFile(join(stateDir, 'keys', 'admin.json'), secret, { mode: 0o600 });
  const { ALLOW_LOOPBACK: modelOrigin, ...env } = withoutExamples(model.baseUrl);
  const start = (port: string) =>
    startMarketplace(stateDir, {
      ...env,
      PORT: port,
      ALLOW_LOOPBACK: [modelOrigin, ...callable].join(),
      REVIEW: 'operator',
      OPERATOR_WALLETS: [keypair, adminKeypair].map(({ publicKey }) => publicKey.toBase58()).join(),
    });
  let marketplace = await start('0');
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
    get marketplace() {
      return marketplace;
    },
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
    killAndRestart: async () => {
      const { pid = 0 } = marketplace.process;
      const children = await descendants(pid);
      await marketplace.kill();
      await killRunning(children);
      marketplace = await start(new URL(marketplace.dev.base_url).port);
    },
    close: async () => {
      await model.close();
      await marketplace.stop();
      await removeStateDir(stateDir);
    },
  };
}
