import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';

describe.each(['index', 'solana/index', 'receipts/index'])('the entry %s', (entry) => {
  test('bundles for a browser: nothing of Node is in it [SVC-13]', async () => {
    const { errors, outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL(`../dist/${entry}.js`, import.meta.url))],
      bundle: true,
      platform: 'browser',
      format: 'esm',
      write: false,
      // web3.js brings its own `buffer`, the package that bundlers put in the place of Node's.
      external: ['@solana/web3.js', 'buffer'],
      logLevel: 'silent',
    });
    expect(errors).toEqual([]);
    const text = outputFiles[0]?.text ?? '';
    expect(text.length).toBeGreaterThan(10_000);
    expect(/from "node:|require\("node:/.test(text)).toBe(false);
  });
});
