export { createBatchSigner } from './batch-transaction.js';
export { createChainLog } from './chain-log.js';
export { leafOf } from './merkle-tree.js';
export { createRunLogPublisher } from './publisher.js';
export { createRunLogRepository } from './repository.js';
export { createRunLog } from './run-log.js';
