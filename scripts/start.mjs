// `npm start`: builds changed packages, then becomes the server.
import { build } from './build.mjs';

await build();
await import('../server/dist/main.js');
