import { slowTask } from '@agent-rental/test/support/agents/slow-agents';
import type { BusyMarketplace } from '@agent-rental/test/support/busy-marketplace';
import { call } from '@agent-rental/test/support/http';
import { paymentChallenge, paymentCredential, signPayment } from '@agent-rental/test/support/payments';
import { newRenter } from '@agent-rental/test/support/renter';
import { until } from '@agent-rental/test/support/timing/until';
import {
  Connection,
  type Keypair,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { newRenters } from '../harness/market.js';
import { byTurns, ratioOf, timed } from '../harness/turns.js';
import { median, type Sheet, timesOf } from '../report.js';
import { openBarePackage } from './bare-package.js';

/** Runs that the rental has paid for; more than all rounds need. */
const PAID_RUNS = 2_000;
const LIMIT_TIMES = 1.3;
const POLL_MS = 5;
const LANDED_WITHIN_MS = 30_000;

/** Compares a paid call with a payment by the bare package and the same run by a rental. */
export async function measureCalls(
  market: BusyMarketplace,
  {
    listing,
    priceLamports,
    rounds,
    warmUps,
  }: { listing: string; priceLamports: number; rounds: number; warmUps: number },
  sheet: Sheet,
): Promise<void> {
  const { server } = market;
  const connection = new Connection(server.dev.rpc_url, 'confirmed');
  const [renter] = await newRenters(market, 1, {
    [listing]: { deposit_lamports: PAID_RUNS * priceLamports },
  });
  if (!renter) throw new Error('There is no renter.');
  const recipient = await newRenter(server);
  const payBare = await openBarePackage({
    rpcUrl: server.dev.rpc_url,
    recipient: recipient.wallet.publicKey.toBase58(),
  });
  let tasks = 0;
  const execute = async (options: { token: string } | { headers: Record<string, string> }, task: string) => {
    const body = { agent_id: listing, task };
    const answer = await call(server, 'POST', '/v1/execute', { body, ...options });
    if (answer.status !== 200 || answer.body['status'] !== 'completed')
      throw new Error(JSON.stringify(answer.body));
  };
  const newTask = () => slowTask(0, `task-${(tasks += 1)}-`);

  async function signed(wallet: Keypair, named: Record<string, string> = {}) {
    const task = newTask();
    const body = { agent_id: listing, task };
    const asked = await call(server, 'POST', '/v1/execute', { body, headers: named });
    const challenge = paymentChallenge(asked.headers);
    const authorization = paymentCredential(challenge, signPayment(challenge, wallet));
    return { lamports: challenge.amount, pay: () => execute({ headers: { authorization } }, task) };
  }

  for (const what of ['first', 'later'] as const) {
    sheet.progress(`Paid calls, ${what}`);
    const parts = { settling: [] as number[], running: [] as number[], landing: [] as number[] };
    let { wallet } = await newRenter(server);
    if (what === 'later') await (await signed(wallet)).pay();
    let ours: Awaited<ReturnType<typeof signed>>;
    let bare: Awaited<ReturnType<typeof payBare>>;
    const { ours: paid, baseline } = await byTurns(
      { run: () => ours.pay() },
      {
        run: async () => {
          parts.settling.push(await timed(() => bare.settle()));
          parts.running.push(await timed(() => execute({ token: renter.token }, newTask())));
        },
      },
      {
        rounds,
        warmUps,
        // Challenges and signatures are the same work for both.
        before: async () => {
          const payer = await newRenter(server);
          if (what === 'first') ({ wallet } = payer);
          ours = await signed(
            wallet,
            what === 'first' ? {} : { 'payment-wallet': wallet.publicKey.toBase58() },
          );
          bare = await payBare(ours.lamports, payer.wallet);
          parts.landing.push(await timed(() => land(connection, payer.wallet)));
        },
      },
    );
    sheet.add({ what: `a paid call, the ${what} of a wallet`, ...timesOf(paid.ms) });
    sheet.add({ what: 'settling with the bare package, and the run by a rental', ...timesOf(baseline.ms) });
    sheet.add({ what: 'of it settling', ...timesOf(parts.settling.slice(warmUps)) });
    sheet.add({ what: 'of it the run', ...timesOf(parts.running.slice(warmUps)) });
    sheet.add({ what: 'a transfer until it is confirmed', ...timesOf(parts.landing) });
    const least = median(parts.landing) + median(parts.running.slice(warmUps));
    sheet.add({ what: 'a paid call over such a transfer and the run', ratio: median(paid.ms) / least });
    const ratio = ratioOf(paid.ms, baseline.ms);
    sheet.atMost(
      `a paid call, the ${what} of a wallet, over the bare package and a run`,
      ratio,
      LIMIT_TIMES,
      'times',
    );
  }
}

/** Sends a transfer, and asks for its confirmation without a pause. The bare package pauses for 2 s between two questions. */
async function land(connection: Connection, wallet: Keypair): Promise<void> {
  const { blockhash } = await connection.getLatestBlockhash();
  const transfer = SystemProgram.transfer({
    fromPubkey: wallet.publicKey,
    toPubkey: wallet.publicKey,
    lamports: 1,
  });
  const message = new TransactionMessage({
    payerKey: wallet.publicKey,
    recentBlockhash: blockhash,
    instructions: [transfer],
  });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  transaction.sign([wallet]);
  const signature = await connection.sendTransaction(transaction);
  await until(
    async () => {
      const { value } = await connection.getSignatureStatus(signature);
      return value?.confirmationStatus === 'confirmed' || value?.confirmationStatus === 'finalized';
    },
    LANDED_WITHIN_MS,
    POLL_MS,
  );
}
