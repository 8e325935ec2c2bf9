import { fileURLToPath } from 'node:url';

/**
 * Absolute path of the committed program, the bytes that `scripts/build-program.sh` builds. Node only, so it has
 * a separate subpath: `@agent-rental/program-client/artifact`.
 */
export function marketplaceSoPath(): string {
  return fileURLToPath(new URL('../artifacts/marketplace.so', import.meta.url));
}
