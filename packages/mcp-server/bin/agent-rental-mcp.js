#!/usr/bin/env node
// Committed, so that npm links the command in a clone. In a clone that is not built, it builds first.
import { existsSync } from 'node:fs';

const program = new URL('../dist/bin.js', import.meta.url);
if (!existsSync(program)) {
  const { build } = await import('../../../scripts/build.mjs');
  await build();
}
await import(program.href);
