import type { JSONRPCResponse } from '@modelcontextprotocol/server';

/** Carries short texts to every replica. They may be lost, and may arrive here too. */
export interface ReplicaBus {
  publish(text: string): Promise<void>;
  subscribe(listener: (text: string) => void): void;
}

/** What replicas tell each other. Requests of one call arrive wherever the load balancer sends them. */
export type ReplicaMessage =
  /** A client cancels a call. */
  | { readonly kind: 'cancel'; readonly call: string }
  /** A client answers a question that its call has put. */
  | { readonly kind: 'answer'; readonly message: JSONRPCResponse }
  /** A client has ended its session. */
  | { readonly kind: 'ended'; readonly session: string };

/** Reads a message of the bus; absent for another text, as after an update of one replica. */
export function readReplicaMessage(text: string): ReplicaMessage | undefined {
  try {
    const message = JSON.parse(text) as ReplicaMessage;
    return typeof message === 'object' && message !== null && 'kind' in message ? message : undefined;
  } catch {
    return undefined;
  }
}
