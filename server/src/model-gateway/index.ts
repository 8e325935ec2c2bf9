export {
  createModelGateway,
  ModelUnavailableError,
  type ModelGateway,
  type ModelSession,
} from './gateway.js';
export { ModelLimitError } from './spending-meter.js';
