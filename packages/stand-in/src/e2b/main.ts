import { startE2bStandIn } from './stand-in.js';

// Runs the stand-in as a process: prints its address, and ends when stdin closes.
const { url, apiKey, close } = await startE2bStandIn();
process.stdout.write(`${JSON.stringify({ url, apiKey })}\n`);
process.stdin.resume().once('close', () => void close());
