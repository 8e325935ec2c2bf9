import { serveEvaluation } from '../evaluator/serve-evaluation.js';
import { openStdio } from '../stdio.js';

// Leaves code all that the runtime has: for trying what its permissions and the kernel hold by themselves.
await serveEvaluation(openStdio());
