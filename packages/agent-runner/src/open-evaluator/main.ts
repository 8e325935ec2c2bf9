import { serveEvaluation } from '../evaluator/serve-evaluation.js';
import { openStdio } from '../stdio.js';

// Removes nothing from the runtime, to test its permissions and the kernel alone.
await serveEvaluation(openStdio());
