#!/usr/bin/env node
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { runCli } from './run-cli.js';

const controller = new AbortController();
// The first Ctrl-C ends the command in good order; a second one ends the process.
process.once('SIGINT', () => controller.abort());
process.once('SIGTERM', () => controller.abort());
// The reader of the pipe has closed it, for instance `head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const isTerminal = process.stdin.isTTY && process.stderr.isTTY;

/** Asks the person at the terminal. Ctrl-C at the question also ends the command. */
async function answerTo(question: string, output: NodeJS.WritableStream): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output, terminal: true });
  terminal.once('SIGINT', () => controller.abort());
  try {
    return (await terminal.question(question, { signal: controller.signal })).trim();
  } finally {
    terminal.close();
  }
}

const code = await runCli(process.argv.slice(2), {
  variables: process.env,
  folder: process.cwd(),
  signal: controller.signal,
  out: (line) => void process.stdout.write(`${line}\n`),
  write: (text) => void process.stdout.write(text),
  err: (line) => void process.stderr.write(`${line}\n`),
  ask: isTerminal
    ? async (question) => /^y(es)?$/i.test(await answerTo(`${question} [y/N] `, process.stderr))
    : undefined,
  askSecret: isTerminal
    ? async (question) => {
        const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
        // The terminal shows nothing from here on, so that a fast answer is hidden, too.
        const secret = answerTo('', silent);
        process.stderr.write(question);
        try {
          return await secret;
        } finally {
          process.stderr.write('\n');
        }
      }
    : undefined,
});

// End the process also with an open request, for instance of an abandoned login.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
