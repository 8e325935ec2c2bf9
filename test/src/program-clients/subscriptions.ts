import { MARKETPLACE_PROGRAM_ID, verifyAccess } from '@agent-rental/program-client';
import { Keypair } from '@solana/web3.js';
import { FUNDS_LAMPORTS, type Market } from './market.js';
import { TransactionSender } from './transaction-sender.js';

/** Collects a subscription's notifications, and waits for matching ones. */
export class Notifications<T> {
  readonly #received: T[] = [];
  #wake: () => void = () => undefined;

  readonly push = (notification: T): void => {
    this.#received.push(notification);
    this.#wake();
  };

  get count(): number {
    return this.#received.length;
  }

  /** Waits until `count` notifications that satisfy the predicate have arrived. */
  async matching(predicate: (notification: T) => boolean, count: number): Promise<T[]> {
    for (;;) {
      const found = this.#received.filter(predicate);
      if (found.length >= count) {
        return found;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/**
 * Waits until the earlier subscriptions of the market's connection are active. A later subscription is active when its
 * first notification arrives. Its transaction changes nothing, and a wallet whose lamports are not compared pays it.
 */
export async function untilSubscribed(market: Market): Promise<void> {
  const { connection } = market.chain;
  const heard = new Notifications();
  const watcher = connection.onLogs(MARKETPLACE_PROGRAM_ID, heard.push, 'confirmed');
  const prober = Keypair.generate();
  await market.chain.airdrop(prober.publicKey, FUNDS_LAMPORTS);
  const probe = verifyAccess({ buyer: prober.publicKey, listingId: 'no-such-agent' });
  const sender = new TransactionSender(market.chain);
  while (heard.count === 0) {
    await sender.landAll([await sender.sign([probe], [prober])]);
  }
  await connection.removeOnLogsListener(watcher);
}
