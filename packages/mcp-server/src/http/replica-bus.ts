import type { JSONRPCResponse } from '@modelcontextprotocol/server';

/** Carries short texts to every replica. A text may be lost, and may also arrive at its sender. */
export interface ReplicaBus {
  publish(text: string): Promise<void>;
  subscribe(listener: (text: string) => void): void;
}

/** Messages between replicas. The load balancer may send the requests of one call to different replicas. */
export type ReplicaMessage =
  /** A client cancels a call. */
  | { readonly kind: 'cancel'; readonly call: string }
  /** A client answers a question of its call. */
  | { readonly kind: 'answer'; readonly message: JSONRPCResponse }
  /** A client has ended its session. */
  | { readonly kind: 'ended'; readonly session: string };

/** Reads a message of the bus; undefined for unknown text, for instance after an update of one replica. */
export function readReplicaMessage(text: string): ReplicaMessage | undefined {
  try {
    const message = JSON.parse(text) as ReplicaMessage;
    return typeof message === 'object' && message !== null && 'kind' in message ? message : undefined;
  } catch {
    return undefined;
  }
}
