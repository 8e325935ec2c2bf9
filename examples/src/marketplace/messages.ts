import type { RentalModel } from '@agent-rental/contract';

/** A published example, with something to try it with. */
export interface PublishedExample {
  id: string;
  title: string;
  rental_model: RentalModel;
  sample_task: string;
  /** Absolute path of the main input file in `examples/inputs/`. */
  sample_input_file: string;
  /** Absolute path of a JSON file that is a complete body for `POST /v1/execute`. */
  sample_request_file: string;
}

/** Messages of the examples to the server that started them. */
export type ExamplesMessage =
  /** First of all: addresses on this machine that the agents of this process are to be reached at. */
  | { type: 'loopback'; urls: string[] }
  /** Something is done, in one line for people. */
  | { type: 'step'; text: string }
  | {
      type: 'ready';
      /** Absolute paths of keypair files, in the format of the Solana command line. */
      wallets: { creator: string; renter: string };
      listings: PublishedExample[];
      api_key_file: string;
      api_key: string;
    }
  /** The last message; the process ends with exit code 1. */
  | { type: 'failed'; message: string };

/** Messages of the server to the examples. */
type ServerMessage = { type: 'loopback-allowed' };

/** The IPC channel to the server. */
export interface ServerChannel {
  /** Resolves when the message has left this process. */
  send(message: ExamplesMessage): Promise<void>;
  /** Resolves when a message of this type has come, also when it came before. */
  received(type: ServerMessage['type']): Promise<void>;
}

/**
 * Opens the channel to the server that forked this process.
 *
 * @throws Error when none was sent in time.
 */
export function serverChannel(): ServerChannel {
  if (process.send === undefined)
    throw new Error('The example marketplace is started by the server (npm start).');
  const send = process.send.bind(process);
  const waiting = new Map<string, { promise: Promise<void>; resolve: () => void }>();
  const slot = (type: string) => {
    const known = waiting.get(type);
    if (known !== undefined) return known;
    let resolve = () => {};
    const promise = new Promise<void>((done) => (resolve = done));
    const made = { promise, resolve };
    waiting.set(type, made);
    return made;
  };
  process.on('message', (message: unknown) => {
    const { type } = Object(message) as { type?: unknown };
    if (type === 'loopback-allowed') slot(type).resolve();
  });
  return {
    send: (message) =>
      new Promise((resolve, reject) => {
        send(message, undefined, undefined, (error) => (error === null ? resolve() : reject(error)));
      }),
    received: (type) => slot(type).promise,
  };
}
