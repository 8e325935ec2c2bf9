import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

/** The examples are a separate program: they play a creator's and a renter's machine. */
export const EXAMPLES_ENTRY = fileURLToPath(
  new URL('../../../../examples/dist/marketplace.js', import.meta.url),
);
const STOP_TIMEOUT_MS = 5_000;

const exampleListing = z.object({
  id: z.string(),
  title: z.string(),
  rental_model: z.string(),
  sample_task: z.string(),
  sample_input_file: z.string(),
  sample_request_file: z.string(),
});

const message = z.discriminatedUnion('type', [
  z.object({ type: z.literal('loopback'), urls: z.array(z.url()) }),
  z.object({ type: z.literal('step'), text: z.string() }),
  z.object({
    type: z.literal('ready'),
    wallets: z.object({ creator: z.string(), renter: z.string() }),
    listings: z.array(exampleListing),
    api_key_file: z.string(),
    api_key: z.string(),
  }),
  z.object({ type: z.literal('failed'), message: z.string() }),
]);

/** The message of the examples once their agents are published and rented. */
export type ReadyExamples = Extract<z.infer<typeof message>, { type: 'ready' }>;

export interface Examples {
  readonly ready: ReadyExamples;
  /** Resolves when the process has ended. */
  readonly exited: Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts the examples and waits until their agents are published and rented.
 *
 * @throws Error with the reason, in words for the terminal.
 */
export async function startExamples(options: {
  /** The program; {@link EXAMPLES_ENTRY}, or a test's own. */
  entry: string;
  baseUrl: string;
  rpcUrl: string;
  /** The marketplace program, in base58. */
  programId: string;
  stateDir: string;
  modelSettings: Readonly<Record<string, string>>;
  onStep(text: string): void;
  /** Lets the server call these origins although they are on loopback. */
  allowOrigins(origins: string[]): void;
}): Promise<Examples> {
  const child = fork(options.entry, [], {
    // A clean environment: the examples are a stranger to the server and need nothing from it.
    env: {
      ...options.modelSettings,
      PATH: process.env['PATH'] ?? '',
      AGENT_RENTAL_URL: options.baseUrl,
      SOLANA_RPC_URL: options.rpcUrl,
      AGENT_RENTAL_PROGRAM_ID: options.programId,
      STATE_DIR: options.stateDir,
    },
    // Not in our process group: Ctrl-C is for the server, which stops them in its turn.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-4_000)));
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = () => stopChild(child, exited);
  try {
    const ready = await new Promise<ReadyExamples>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', () => reject(new Error(`The examples ended while starting. ${stderr.trim()}`)));
      child.on('message', (raw) => {
        const parsed = message.safeParse(raw);
        if (!parsed.success) return;
        const { data } = parsed;
        if (data.type === 'step') options.onStep(data.text);
        if (data.type === 'failed') reject(new Error(data.message));
        if (data.type === 'ready') resolve(data);
        if (data.type === 'loopback') {
          options.allowOrigins(data.urls.map((url) => new URL(url).origin));
          child.send({ type: 'loopback-allowed' });
        }
      });
    });
    return { ready, exited, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function stopChild(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}
