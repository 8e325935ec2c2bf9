import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

describe('the main entry', () => {
  it('bundles for a browser: nothing of Node in it', async () => {
    const { errors, outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL('../src/index.ts', import.meta.url))],
      bundle: true,
      platform: 'browser',
      format: 'esm',
      write: false,
      // web3.js brings the package `buffer`, which bundlers use instead of Node's.
      external: ['@solana/web3.js', 'buffer'],
      logLevel: 'silent',
    });
    expect(errors).toEqual([]);
    expect(outputFiles[0]?.text).toContain('purchase_one_time');
    expect(outputFiles[0]?.text).not.toMatch(/from "node:/);
  });
});
