// `npm start`: builds what has changed, then becomes the server.
import { build } from './build.mjs';

await build();
await import('../server/dist/main.js');
