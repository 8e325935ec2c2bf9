import { openStdio } from '../stdio.js';
import { leaveBareRealm } from './bare-realm.js';
import { serveEvaluation } from './serve-evaluation.js';

const stdio = openStdio();
leaveBareRealm(stdio);
await serveEvaluation(stdio);
