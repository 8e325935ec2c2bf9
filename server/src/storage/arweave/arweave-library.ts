import { createRequire } from 'node:module';
import type deepHashModule from 'arweave/node/lib/deepHash.js';
import type transactionModule from 'arweave/node/lib/transaction.js';

// CommonJS with a default export, which Node and the test runner import in different ways.
const load = createRequire(import.meta.url);

/** The hash of nested lists of bytes that transactions and data items are signed over. */
export const { default: deepHash } = load('arweave/node/lib/deepHash.js') as typeof deepHashModule;
export const { default: Transaction, Tag } = load(
  'arweave/node/lib/transaction.js',
) as typeof transactionModule;
