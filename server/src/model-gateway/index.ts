export { createModelGateway, ModelUnavailableError, type ModelGateway } from './gateway.js';
export { ModelLimitError } from './spending-meter.js';
