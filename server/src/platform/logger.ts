import { pino, type DestinationStream, type Logger } from 'pino';

export type { Logger } from 'pino';

/** Lines are collected up to this size, and written at least this often: a write per request costs as much as serving it. */
const BUFFER = { minLength: 8_192, periodicFlush: 500 };
/** Of lines that cannot be written, so many are kept for the next try; later ones are lost. */
const MOST_UNWRITTEN_BYTES = 1_000_000;

/**
 * Makes the server's logger: JSON lines. Headers that authenticate are cut out; prompts, inputs, outputs and
 * keys are never handed to it in the first place.
 */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    redact: {
      paths: [
        'req.headers.authorization',
        'headers.authorization',
        '*["payment-signature"]',
        'req.headers["payment-signature"]',
        '*.api_key',
        '*.apiKey',
        '*.model_key',
      ],
      censor: '[redacted]',
    },
  };
  return pino(options, destination ?? logDestination());
}

/**
 * The target of a server's log: a file, or without one the standard output. The collected lines are written when the
 * process ends and with every fatal line; `kill -9` loses the last half second.
 */
export function logDestination(file?: string): DestinationStream {
  const destination = pino.destination({
    ...(file === undefined ? { fd: 1 } : { dest: file, mkdir: true }),
    sync: true,
    maxLength: MOST_UNWRITTEN_BYTES,
    ...BUFFER,
  });
  // A full disk costs lines of the log, and not the server.
  destination.on('error', () => undefined);
  return destination;
}
