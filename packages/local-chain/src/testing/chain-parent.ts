/** A process that runs a chain, for tests that kill it. Prints `{rpcUrl, pid}` when the chain is ready. */
import { startLocalChain } from '../index.js';

const [stateDir = '', rpcPort = '0'] = process.argv.slice(2);
const chain = await startLocalChain({ stateDir, rpcPort: Number(rpcPort), programs: [], consensus: 'tower' });
process.stdout.write(`${JSON.stringify({ rpcUrl: chain.rpcUrl, pid: chain.pid })}\n`);
