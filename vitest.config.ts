import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'server/src/**/*.test.ts',
      'examples/src/**/*.test.ts',
      'test/src/**/*.test.ts',
    ],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores: more workers than that make process-spawning tests starve each other.
    maxWorkers: 2,
    // Retrying hides a bug in the code or in the test.
    retry: 0,
  },
});
