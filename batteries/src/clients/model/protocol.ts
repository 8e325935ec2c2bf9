import type { Step, Turn } from './turns.js';

/** A request of a client, whose tools are named in one of two places. */
export interface ModelRequest {
  readonly stream?: boolean;
  readonly tools?: readonly { name?: string; function?: { name: string } }[];
}

/** How a vendor's API says what was done, and what to do next. */
export interface Protocol<Request extends ModelRequest = ModelRequest> {
  stepsOf(request: Request): Step[];
  /** @param name of the tool that the turn calls, as the client has it. */
  answer(turn: Turn, name: string): object;
  /** The same as server-sent events; absent where no client that is tried asks for them. */
  stream?(turn: Turn, name: string): string;
}

/** A value as the text that a model would read. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
