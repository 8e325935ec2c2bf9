import type { JsonObject } from '@agent-rental/contract';
import type { Caller } from './rented-marketplace.js';

/** Builds the tools of a caller's rentals. @returns the tools as a model or a client gets them. */
export type List = (caller: Caller, rentals: number) => Promise<JsonObject[]>;

/** A framework with our adapter, and bare. */
export interface Framework {
  readonly name: string;
  /** Whether this process builds the tools again for each list. A server keeps them for a minute. */
  readonly isBuiltHere: boolean;
  readonly ours: List;
  readonly floor: List;
  /** CPU time of the processes that build the tools, without the marketplace. Default: this process alone. */
  cpuMs?(side: 'ours' | 'floor'): Promise<number>;
}

/** A tool for the bare frameworks. */
export interface GivenTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}
