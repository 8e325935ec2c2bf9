/** One turn of a stand-in for a model vendor. */
export interface VendorTurn {
  /** The text, in the pieces in which it is streamed. */
  text?: string[];
  /** Calls of tools, their arguments as JSON text in the pieces in which it is streamed. */
  toolCalls?: { name: string; arguments: string[] }[];
  /** Why the turn ends. Default: `tool_calls` when there are some, else `stop`. */
  finish?: 'stop' | 'tool_calls' | 'length' | 'content_filter';
  /** Ends in the middle: with an error of the vendor's inside the stream, or silently, as a proxy cuts it. */
  breaks?: 'error' | 'silence';
}

/** An HTTP error of the vendor's. */
export interface VendorRefusal {
  status: number;
  headers?: Record<string, string>;
}

/** A request, as far as both vendors say the same. */
export interface VendorRequest {
  model: string;
  system: string;
  /** Texts and tool results of the conversation, in order. */
  texts: string[];
  /** Tools on offer. */
  tools: string[];
  toolChoice: string | undefined;
  /** All of it, as it came. */
  body: string;
  headers: Headers;
}

/** The parts of one vendor's protocol. */
export interface VendorProtocol {
  path: string;
  /** The error of a request that the vendor would refuse; undefined for a correct request. */
  check(body: Record<string, unknown>, headers: Headers): VendorError | undefined;
  read(body: Record<string, unknown>): Omit<VendorRequest, 'body' | 'headers'>;
  /** The turn as server-sent events, each with its blank line. */
  events(turn: VendorTurn, model: string): string[];
  /** Body of an HTTP error. */
  error(error: VendorError): unknown;
}

/** An error with the vendor's message. */
export interface VendorError {
  status: number;
  type: string;
  message: string;
}
