import type { PublicKey, SignatureStatus } from '@solana/web3.js';
import type { AccountsAtSlot } from '../account-reader.js';
import type { EndpointStats } from './endpoint-pool.js';
import type { ClusterFinality } from '../finality.js';
import type { RpcEndpoint } from './endpoint.js';

/**
 * How certain a read has to be. `current`: the state that the service decides on. `finalized`: no fork can take it back.
 * With fast finality they are the same.
 */
export type ReadCommitment = 'current' | 'finalized';

/** Where the chain is read and written: one endpoint, or several that check each other. */
export interface ChainSource {
  readonly finality: ClusterFinality;
  /** The endpoint where there are no others, whose word is all there is. */
  readonly only: RpcEndpoint | undefined;
  /** Makes a call at one endpoint; where there are several, at the next while an answer is not good. */
  first<T>(call: (endpoint: RpcEndpoint) => Promise<T>, isGood?: (value: T) => boolean): Promise<T>;
  /** Accounts of one endpoint, never older than earlier reads. */
  accounts(addresses: readonly PublicKey[], commitment: ReadCommitment): Promise<AccountsAtSlot>;
  /**
   * Current accounts of two endpoints, the second in `second` where two answered.
   *
   * @param atLeast the slot that both must have reached
   */
  accountsOfTwo(addresses: readonly PublicKey[], atLeast?: bigint): Promise<AccountsAtSlot>;
  statuses(signatures: readonly string[], searchHistory: boolean): Promise<(SignatureStatus | null)[]>;
  /** The height that the cluster has finalized; 0 while too few endpoints say it. */
  finalizedHeight(): Promise<number>;
  send(signedBytes: Uint8Array): Promise<void>;
  /** The genesis hash of the cluster. @throws Error when no endpoint answers, or two are of different clusters. */
  requireOneCluster(): Promise<string>;
  /** Numbers of each endpoint; empty where there is only one, which is not judged. */
  stats(): { endpoints: EndpointStats[]; disputes: number };
}
