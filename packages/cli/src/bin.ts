#!/usr/bin/env node
import { createInterface } from 'node:readline/promises';
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

const code = await runCli(process.argv.slice(2), {
  variables: process.env,
  folder: process.cwd(),
  signal: controller.signal,
  out: (line) => void process.stdout.write(`${line}\n`),
  write: (text) => void process.stdout.write(text),
  err: (line) => void process.stderr.write(`${line}\n`),
  ask:
    process.stdin.isTTY && process.stderr.isTTY
      ? async (question) => {
          const terminal = createInterface({ input: process.stdin, output: process.stderr });
          // Ctrl-C at the question also ends the command.
          terminal.once('SIGINT', () => controller.abort());
          try {
            return /^y(es)?$/i.test(
              (await terminal.question(`${question} [y/N] `, { signal: controller.signal })).trim(),
            );
          } finally {
            terminal.close();
          }
        }
      : undefined,
});

// End the process also with an open request, for instance of an abandoned login.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
