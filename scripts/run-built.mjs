// `node scripts/run-built.mjs <program> [arguments]`: builds changed packages, then becomes the program.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, root } from './build.mjs';

await build();
const [program] = process.argv.splice(2, 1);
process.argv[1] = join(root, program);
await import(pathToFileURL(process.argv[1]).href);
